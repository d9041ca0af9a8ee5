/**
 * How an agent is started on its host, shown beside a new token. One constant, so that the words change in one
 * place when agents come as a package.
 */
const template = 'npx knoc-agent run --server {server} --token {token} --data ./knoc-agent'

/** The command for one token. Both values are ours: an origin and base64url, so nothing needs quoting. */
export const installCommand = ({ server, token }: { server: string; token: string }): string =>
  template.replace('{server}', server).replace('{token}', token)

/** The commands, in the order of the help. */
export const commandNames = ['run', 'status', 'doctor', 'sets'] as const
export type CommandName = (typeof commandNames)[number]

const dataFlag = '  --data DIR      the agent’s folder (KNOC_AGENT_DATA; default /var/lib/knoc-agent)'

const overview = `knoc-agent: opens and closes this host's doors as the Knoc server says

Usage:
  knoc-agent run     start the agent
  knoc-agent status  show what the agent of a data folder knows
  knoc-agent doctor  check this host, and say what to do
  knoc-agent sets    make every managed set, empty (what knoc-sets.service runs before the firewall starts)

  knoc-agent COMMAND --help, knoc-agent --version

Exit codes: 0 all right, 1 failed, 2 asked for wrongly.`

const texts: Readonly<Record<CommandName, string>> = {
  run: `knoc-agent run --server URL --data DIR

Starts the agent. The first start enrols it with the token from the console; afterwards its own keys, kept in the
data folder, are its identity, and a token is ignored.

  --server URL    where the server is, https://host[:port] (KNOC_SERVER, or "server" in agent.json)
  --token TOKEN   the token from the console. Every user of this host can read a command line; better:
                  KNOC_AGENT_TOKEN, or KNOC_AGENT_TOKEN_FILE with the name of a file
${dataFlag}
  --ca FILE       PEM file of the authorities that signed the server's certificate and devices' (KNOC_AGENT_CA)

agent.json in the data folder says what this host allows: "scripts" (false), "scriptFolder", "scriptSeconds",
"haproxySocket", "haproxyAddresses", "devices", "managedSets", "serverName", "machineIdFile", "logLevel".`,
  status: `knoc-agent status --data DIR

Shows identity, link, and how many doors stand open on which list. Exit 0 when the agent runs and is linked, else 1.

${dataFlag}`,
  doctor: `knoc-agent doctor --data DIR

Checks ipset, the sets (there, with timeouts, used by a rule), for each door whether closing it ends established
connections and which rule would, and the order of the services at boot.
Exit 0 when nothing is wrong, else 1, with what to do.

${dataFlag}`,
  sets: `knoc-agent sets --data DIR

Makes every managed set that is missing, empty, from sets.json and agent.json. No network, no server. What stands
already is left alone.

${dataFlag}
  --forget NAME   don't make this set any more`,
}

/** The help of one command, or of all. */
export const helpText = (name: CommandName | undefined): string =>
  name === undefined ? overview : texts[name]

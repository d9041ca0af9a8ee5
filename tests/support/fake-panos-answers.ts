/**
 * What PAN-OS's XML API says. Known from recorded answers: `enqueued`, `invalidCredential` (with its single quotes and
 * spaces), `notAuthorized`, the form of `invalidCommand` and of `unknownList`, `notConnected`'s words. From the
 * documentation: the codes. Assumed: the words of `busy` and `unknownVsys`.
 */
type Answer = { status: number; body: string }

const xml = (body: string, status = 200): Answer => ({ status, body })
const refused = (lines: readonly string[], code = '17') =>
  xml(
    `<response status="error" code="${code}"><msg>${lines
      .map((line) => `<line><![CDATA[ ${line}]]></line>`)
      .join('')}</msg></response>`,
  )
const denied = (words: string, code = '403') =>
  xml(`<response status = 'error' code = '${code}'><result><msg>${words}</msg></result></response>`, 403)

/** Those that need no words of the call; a test can have any of them for every call. */
export const answers = {
  enqueued: xml('<response status="success"><result>EDL refresh job enqueued</result></response>'),
  invalidCredential: denied('Invalid Credential'),
  notAuthorized: denied('Type [op] not authorized for user role.'),
  unauthorized: refused(['Unauthorized request'], '16'),
  objectNotPresent: xml('<response status="error" code="7"><result/></response>'),
  badRequest: { ...denied('Missing value for parameter "type"', '400'), status: 400 },
  invalidCommand: refused(['request -> system is unexpected', 'request is unexpected']),
  busy: refused(['Another job is in progress. Please try again later'], '14'),
  malformed: xml('<response status="success"><result>EDL refresh job enq'),
  doctype: xml(
    '<!DOCTYPE response [<!ENTITY a "aaaa">]><response status="success"><result>EDL refresh job enqueued</result></response>',
  ),
  giant: xml(`<response status="success"><result>${'x'.repeat(2_000_000)}</result></response>`),
  html: xml('<!DOCTYPE html><html><head><title>Login</title></head><body><p>Sign in</body></html>'),
  unavailable: { status: 503, body: '<html><body>503 Service Unavailable</body></html>' },
} as const satisfies Record<string, Answer>

/** Those that name what was asked for. */
export const refusals = {
  notConnected: (serial: string) =>
    xml(`<response status="error"><msg><line>${serial} not connected</line></msg></response>`),
  unknownVsys: (vsys: string) => refused([`vsys '${vsys}' is not a valid vsys`]),
  unknownList: (name: string, vsys: string) =>
    refused([
      `request -> system -> external-list -> refresh -> type -> ip -> name '${name}' is not a valid reference. Current target-vsys is ${vsys}`,
      'request -> system -> external-list -> refresh -> type -> ip -> name is invalid',
    ]),
}

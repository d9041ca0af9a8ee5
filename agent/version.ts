/** The agent's own version; the server holds it against the least one it works with. */
export const agentVersion = '2.0.0'

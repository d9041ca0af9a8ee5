/** The help of each word after `knoc-client`; the empty one is the client itself. */
export const helpTexts = {
  '': `knoc-client: opens this host's access by an API key, for scripts and services

Usage:
  knoc-client --server URL --key-file FILE               sign in, wait until access is open, leave it open
  knoc-client --server URL --key-file FILE --persist     keep access open until it is stopped, then close it
  knoc-client --server URL --token-file FILE --logout    close what an earlier run left open
  knoc-client config [--out FILE]                        print or write a config file to fill in

  --server URL       where the server is, https://host[:port] (KNOC_SERVER)
  --key-file FILE    file with an API key of purpose user_auth, readable by its owner only
                     (KNOC_CLIENT_KEY_FILE, or the key itself in KNOC_CLIENT_KEY; never on the command line)
  --entry NAME       open this entry, also one that needs a click; may be said many times.
                     Without it: every entry that opens by itself
  --wait SECONDS     how long to wait for access to be open (30)
  --persist          stay: follow this host's addresses, sign in again in time, outlast outages
  --token-file FILE  keep the session's token in FILE, for its owner only; a later run goes on from it
  --logout           end the session that FILE keeps
  --config FILE      settings as JSON (KNOC_CLIENT_CONFIG); see: knoc-client config
  --ca FILE          PEM file of the authority that signed the server's certificate (KNOC_CLIENT_CA)
  --json             results as JSON: one document, with --persist one line for each change
  --help, --version

One run leaves its session: access lasts until the session's end, --logout, or an administrator. Signed out again is
only what was refused (3) or interrupted.

Exit codes: 0 everything is open (or closed, as asked), 1 failed, 2 asked for wrongly, 3 refused: key, user, licence
or entry, 4 not open in time, 5 the server can't be reached, 6 not allowed from this address.`,
  config: `knoc-client config [--out FILE]

Prints a config file with comments, to be filled in and used with --config; with --out writes it, unless FILE exists.`,
} as const

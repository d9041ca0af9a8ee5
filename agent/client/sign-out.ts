import { adviceOn } from './advice.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Report } from './report.ts'
import { Refusal, type SessionApi } from './session-api.ts'
import { readTokenFile, removeTokenFile } from './token-file.ts'

/** `knoc-client --logout`: ends the session that an earlier run kept. One that has ended is no fault. */
export async function signOutEarlier({
  api,
  report,
  server,
  tokenFile,
}: {
  api: Pick<SessionApi, 'signOut'>
  report: Report
  server: URL
  tokenFile: string
}): Promise<ExitCode> {
  const token = readTokenFile(tokenFile, server)
  if (token === undefined) {
    report.remark(`${tokenFile} holds no session at ${server.origin}: there is nothing to sign out`)
    return exitCodes.done
  }
  try {
    await api.signOut(token)
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.status !== 401) {
      report.remark(adviceOn(fault))
      return fault instanceof Refusal ? exitCodes.refused : exitCodes.unreachable
    }
  }
  removeTokenFile(tokenFile)
  report.event('signedOut')
  return exitCodes.done
}

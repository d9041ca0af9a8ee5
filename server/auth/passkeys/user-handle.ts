/** What an authenticator keeps as its owner's id: the 16 bytes of the account's UUID. Says nothing about a person. */
export const toUserHandleBytes = (accountId: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(accountId.replaceAll('-', ''), 'hex'))

/** The same as WebAuthn's JSON has it. */
export const toUserHandle = (accountId: string): string =>
  Buffer.from(toUserHandleBytes(accountId)).toString('base64url')

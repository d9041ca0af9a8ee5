/** A password as it is compared with words: in whatever case, however a keyboard composes its signs. */
export const toPasswordKey = (password: string): string => password.normalize('NFKC').toLowerCase()

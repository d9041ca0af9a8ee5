/**
 * The user name that a Name suggests: lower case, spaces become dots, and what no user name may hold is left out.
 * Console §4.
 */
export const toUserName = (name: string): string =>
  name.trim().toLocaleLowerCase('en').replaceAll(/\s+/g, '.').replaceAll(/\p{C}/gu, '')

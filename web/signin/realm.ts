/** Who signs in. Both realms have the same ways in, under addresses of their own. */
export type Realm = 'user' | 'admin'

/** Where each realm's calls begin. */
export const apiBase: Readonly<Record<Realm, string>> = { user: '/api', admin: '/api/admin' }

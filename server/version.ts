import manifest from '../package.json' with { type: 'json' }

/** The server's own version. */
export const serverVersion: string = manifest.version

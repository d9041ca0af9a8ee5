import type { IForbiddenRuleType } from 'dependency-cruiser'

const tests = '(\\.test\\.tsx?$|/testing/)'

/** Who may import what. A violation names its rule; README "The map" has the picture. */
export const layerRules: IForbiddenRuleType[] = [
  {
    name: 'no cycles',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'machines know xstate, zod and themselves',
    severity: 'error',
    from: { path: '^machines/', pathNot: tests },
    to: { pathNot: ['^machines/', '(^|node_modules/)(xstate|zod)(/|$)'] },
  },
  {
    name: 'the web takes only types, wire shapes and definitions from the server',
    severity: 'error',
    from: { path: '^web/', pathNot: tests },
    to: {
      path: '^server/',
      pathNot: ['\\.schema\\.ts$', '^server/backends/definitions/'],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'the agent takes only types, wire shapes and definitions from the server',
    severity: 'error',
    from: { path: '^agent/', pathNot: tests },
    to: {
      path: '^server/',
      // The sealed box: one end seals, the other opens, and two copies of a cipher would be worse.
      pathNot: ['\\.schema\\.ts$', '^server/backends/(definitions/|hpke\\.ts$)'],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'knoc-client takes from the agent how the server is asked, and no more',
    severity: 'error',
    from: { path: '^agent/client/', pathNot: tests },
    to: { path: '^agent/', pathNot: ['^agent/client/', '^agent/(server-api|version)\\.ts$'] },
  },
  {
    name: 'the agent knows nothing of knoc-client',
    severity: 'error',
    from: { path: '^agent/', pathNot: ['^agent/client/', tests] },
    to: { path: '^agent/client/' },
  },
  {
    name: 'the server knows neither agent nor web',
    severity: 'error',
    from: { path: '^server/', pathNot: tests },
    to: { path: '^(agent|web)/' },
  },
  {
    name: 'wire shapes know zod, machines, definitions and each other',
    severity: 'error',
    from: { path: '\\.schema\\.ts$', pathNot: '^(agent/|server/platform/config)' },
    to: {
      pathNot: [
        '\\.schema\\.ts$',
        '^machines/',
        '^server/backends/definitions/',
        '(^|node_modules/)zod(/|$)',
      ],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'SQL stands in stores, queries, entries, platform and migrations',
    severity: 'error',
    from: {
      path: '^server/',
      pathNot: ['\\.(store|query)\\.ts$', '^server/(entries|platform)/', tests],
    },
    to: { path: '(^|node_modules/)kysely(/|$)', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'the queue is known in its own files only',
    severity: 'error',
    from: { path: '^server/', pathNot: ['^server/platform/queue', tests] },
    to: { path: '(^|node_modules/)bullmq(/|$)' },
  },
  {
    name: 'a feature reaches another through its service or query, not its store',
    severity: 'error',
    from: { path: '^server/([^/]+)/', pathNot: tests },
    to: {
      path: '^server/[^/]+/.*\\.store\\.ts$',
      pathNot: ['^server/$1/', '^server/audit/'],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'one file of the agent starts programs',
    severity: 'error',
    from: { path: '^agent/', pathNot: ['^agent/command\\.ts$', tests] },
    to: { path: '(^|node_modules/)execa(/|$)' },
  },
  {
    name: 'the kit knows no product word',
    severity: 'error',
    from: { path: '^web/components/', pathNot: tests },
    to: { path: '^web/(portal|admin|forms)/' },
  },
  {
    name: 'users never download the console',
    severity: 'error',
    from: { path: '^web/portal/', pathNot: tests },
    to: { path: '^web/admin/' },
  },
]

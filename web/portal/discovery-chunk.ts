/** The lookup itself: loaded when somebody's addresses are looked up, not before. */
export const loadDiscovery = () => import('./discovery.ts')

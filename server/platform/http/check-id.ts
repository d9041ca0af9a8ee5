import { apiError } from '../../errors.ts'

/** A body that names an id must name the path's. Specification README "Updates". */
export function checkId(pathId: string, bodyId: string | undefined): void {
  if (bodyId !== undefined && bodyId.toLowerCase() !== pathId.toLowerCase())
    throw apiError('err.mismatchingIDs')
}

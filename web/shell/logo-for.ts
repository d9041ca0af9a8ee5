import type { Theme } from '#server/status/status.schema.ts'

/**
 * The installation's logo for dark or for light backgrounds: `Logo` is the one for dark ones, `LightModeLogo` for light
 * ones, and where one is missing the other stands in. Null: the product's own.
 */
export const logoFor = (
  { Logo, LightModeLogo }: Pick<Theme, 'Logo' | 'LightModeLogo'>,
  isDark: boolean,
): string | null => (isDark ? (Logo ?? LightModeLogo) : (LightModeLogo ?? Logo))

import { z } from 'zod'
import { type AclFields, aclFieldsSchema } from '#server/acls/acl.schema.ts'
import { type BackendId, definitions } from '#server/backends/definitions/index.ts'
import {
  type DefinitionValues,
  definitionFormSchema,
  toDefinitionValues,
} from '../../forms/definition-fields.ts'

/** What is stored of a knoc's settings; absent while one is being made. */
export type StoredSettings = {
  backendConfig: Record<string, unknown>
  acl: AclFields
}

/** What the settings form holds: the entry as users see it, and what its definition asks. */
export type SettingsValues = {
  Description: string
  URL: string
  Category: string
  Icon: string
  Backend: DefinitionValues
  Acl: DefinitionValues
}

const { Description, URL, Category, Icon } = aclFieldsSchema.shape

/** The settings step's rule for one kind of enforcement point; output: texts trimmed, configs as on the wire. */
export const settingsFormSchema = (type: BackendId, stored?: StoredSettings) => {
  const { backend, acl } = definitions[type]
  const isUpdate = stored !== undefined
  return z.object({
    Description,
    URL: URL.removeDefault(),
    Category: Category.removeDefault().transform((text) => (text === '' ? 'Default' : text)),
    Icon: Icon.removeDefault().transform((text) => (text === '' ? 'server' : text)),
    Backend: definitionFormSchema(backend, { isUpdate, kept: configOf(stored?.backendConfig, type) }),
    Acl: definitionFormSchema(acl, { isUpdate, kept: configOf(stored?.acl.Config, type) }),
  })
}
export type SettingsForm = z.output<ReturnType<typeof settingsFormSchema>>

/** What the form starts with. */
export function toSettingsValues(type: BackendId, stored?: StoredSettings): SettingsValues {
  const { backend, acl } = definitions[type]
  return {
    Description: stored?.acl.Description ?? '',
    URL: stored?.acl.URL ?? '',
    Category: stored?.acl.Category ?? 'Default',
    Icon: stored?.acl.Icon ?? 'server',
    Backend: toDefinitionValues(backend, configOf(stored?.backendConfig, type)),
    Acl: toDefinitionValues(acl, configOf(stored?.acl.Config, type)),
  }
}

/** A config's settings below the one key that names its type. */
export const configOf = (
  config: Record<string, unknown> | undefined,
  type: string,
): Record<string, unknown> => (config?.[type] ?? {}) as Record<string, unknown>

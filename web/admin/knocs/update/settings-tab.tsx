import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import type { KnocDetail } from '#server/knocs/knoc.schema.ts'
import { useDirtyForm } from '../../../shell/dirty-forms.ts'
import { queries } from '../../admin-queries.ts'
import { setSuggestions } from '../knoc-review.ts'
import { KnocSettingsFields } from '../knoc-settings-fields.tsx'
import { settingsFormSchema, toSettingsValues } from '../knoc-settings-form.ts'
import type { KnocType } from '../knoc-types.ts'
import { TabFooter } from './tab-footer.tsx'
import type { KnocUpdating } from './use-knoc-update.ts'

/** The settings of a knoc that exists. */
export function SettingsTab({
  type,
  detail,
  save,
  isSaving,
}: KnocUpdating & { type: KnocType; detail: KnocDetail }) {
  const stored = { backendConfig: detail.Backend.Config, acl: detail.ACL }
  const form = useForm({
    resolver: zodResolver(settingsFormSchema(type.backend, stored)),
    defaultValues: toSettingsValues(type.backend, stored),
  })
  useDirtyForm(form.formState.isDirty)
  const agents = useQuery(queries.agents).data
  const agent = agents?.find(({ ID }) => ID === detail.AgentID)
  const submit = form.handleSubmit((settings) => save({ part: 'settings', settings }))
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      <KnocSettingsFields
        form={form}
        type={type}
        knocId={detail.ID}
        suggestions={setSuggestions(agent?.Capabilities ?? null)}
      />
      <TabFooter isSaving={isSaving} />
    </form>
  )
}

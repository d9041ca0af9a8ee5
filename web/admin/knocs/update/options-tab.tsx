import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import type { KnocDetail } from '#server/knocs/knoc.schema.ts'
import { useDirtyForm } from '../../../shell/dirty-forms.ts'
import { KnocOptionsFields } from '../knoc-options-fields.tsx'
import { optionsFormSchema, toOptionsValues } from '../knoc-options-form.ts'
import { TabFooter } from './tab-footer.tsx'
import type { KnocUpdating } from './use-knoc-update.ts'

/** The options of a knoc that exists. */
export function OptionsTab({ detail, save, isSaving }: KnocUpdating & { detail: KnocDetail }) {
  const form = useForm({
    resolver: zodResolver(optionsFormSchema),
    defaultValues: toOptionsValues(detail.ACL),
  })
  useDirtyForm(form.formState.isDirty)
  const submit = form.handleSubmit((options) => save({ part: 'options', options }))
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      <KnocOptionsFields form={form} />
      <TabFooter isSaving={isSaving} />
    </form>
  )
}

import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { licenceSchema } from '#server/licence/licence.schema.ts'
import { Button } from '../../components/button.tsx'
import { TextAreaField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { saveLicence } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'

/** The licence key, and Save. A key that isn't good stays in the field, with the reason. */
export function LicenceKeyForm({ onSaved }: { onSaved?: () => void }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const form = useForm({ resolver: zodResolver(licenceSchema), defaultValues: { License: '' } })
  const save = useAdminAction({
    run: saveLicence,
    stale: [stale.licence, stale.status, stale.users],
    done: 'admin.licence.saved',
    onDone: () => {
      form.reset()
      onSaved?.()
    },
  })
  const submit = form.handleSubmit(({ License }) => save.mutate(License))
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      <TextAreaField
        label={t('admin.licence.key')}
        rows={3}
        autoComplete="off"
        spellCheck={false}
        className="[&_textarea]:font-mono [&_textarea]:text-sm"
        error={errors.ofField(form.formState.errors.License?.message)}
        {...form.register('License')}
      />
      <Button type="submit" variant="primary" busy={save.isPending} className="self-start">
        {t('admin.save')}
      </Button>
    </form>
  )
}

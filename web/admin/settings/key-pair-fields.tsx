import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Checkbox } from '../../components/checkbox.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { generateSamlKeyPair } from '../admin-api.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { useAdminAction } from '../use-admin-action.ts'
import type { AuthValues, RealmPrefix } from './auth-form.ts'
import { TextFileField } from './text-file-field.tsx'

type Props = {
  form: UseFormReturn<AuthValues>
  prefix: RealmPrefix
  isRecorded: boolean
  onGenerated: () => void
}

/**
 * Our SAML key pair of one realm: uploaded, removed, or made here, which needs a confirmation: a provider that knows
 * the old certificate refuses the new one. Console §2 "Settings".
 */
export function KeyPairFields({ form, prefix, isRecorded, onGenerated }: Props) {
  const { t } = useTranslation()
  const [isAsking, setIsAsking] = useState(false)
  const [certificate, setCertificate] = useState<string>()
  const generate = useAdminAction<void, { Certificate: string }>({
    run: () => generateSamlKeyPair(prefix === '' ? 'user' : 'admin'),
    stale: [],
    onDone: ({ Certificate }) => {
      setIsAsking(false)
      setCertificate(Certificate)
      onGenerated()
    },
    onFailed: () => {},
  })
  const isRemoving = form.watch(`${prefix}RemoveKeyPair`)
  return (
    <fieldset className="flex min-w-0 flex-col gap-4">
      <legend className="contents">
        <span className="flex flex-wrap items-center gap-2 text-sm font-semibold text-ink">
          {t('admin.auth.keyPair')}
          <Badge tone={isRecorded ? 'ok' : 'neutral'}>
            {t(isRecorded ? 'admin.auth.keyPairSet' : 'admin.auth.keyPairMissing')}
          </Badge>
        </span>
      </legend>
      <p className="-mt-2 text-sm text-muted">{t('admin.auth.keyPairText')}</p>
      {(['Key', 'Cert'] as const).map((part) => (
        <TextFileField
          key={part}
          form={form}
          name={`${prefix}SAML${part}File`}
          label={t(part === 'Key' ? 'admin.auth.privateKey' : 'admin.auth.certificate')}
          placeholder={isRecorded ? t(part === 'Key' ? 'field.recorded' : 'admin.auth.provided') : undefined}
          accept=".pem,.key,.crt,.cer"
          rows={3}
          disabled={isRemoving}
        />
      ))}
      {isRecorded ? (
        <Checkbox label={t('admin.auth.removeKeyPair')} {...form.register(`${prefix}RemoveKeyPair`)} />
      ) : null}
      <Button
        size="sm"
        icon={KeyRound}
        className="self-start"
        onClick={() => {
          generate.reset()
          setIsAsking(true)
        }}
      >
        {t('admin.auth.generate')}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => generate.mutate()}
        title={t('admin.auth.generateTitle')}
        text={t(isRecorded ? 'admin.auth.generateReplaceText' : 'admin.auth.generateText')}
        confirmLabel={t('admin.auth.generate')}
        danger={isRecorded}
        busy={generate.isPending}
        error={generate.error}
      />
      <Dialog
        open={certificate !== undefined}
        onClose={() => setCertificate(undefined)}
        title={t('admin.auth.generated')}
        description={t('admin.auth.generatedText')}
        footer={
          <Button variant="primary" onClick={() => setCertificate(undefined)}>
            {t('kit.close')}
          </Button>
        }
      >
        <CodeBlock
          label={t('admin.auth.certificate')}
          text={certificate ?? ''}
          copyLabel={t('admin.copyNamed', { name: t('admin.auth.certificate') })}
        />
      </Dialog>
    </fieldset>
  )
}

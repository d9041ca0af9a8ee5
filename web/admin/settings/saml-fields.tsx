import { Controller, type UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { RadioGroup } from '../../components/radio-group.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import type { AuthValues, RealmPrefix } from './auth-form.ts'
import { CopyRows } from './copy-rows.tsx'
import { KeyPairFields } from './key-pair-fields.tsx'
import { RealmCard } from './realm-card.tsx'
import { TextFileField } from './text-file-field.tsx'

type Props = {
  form: UseFormReturn<AuthValues>
  prefix: RealmPrefix
  /** Origin of the addresses that the provider is told. */
  origin: string
  /** Whether a key pair is recorded. */
  hasKeyPair: boolean
  /** A new key pair was made: what is stored has to be read anew. */
  onGenerated: () => void
}

/** SAML of one realm: the provider's metadata, our key pair, and the addresses to tell the provider. Console §3. */
export function SamlFields({ form, prefix, origin, hasKeyPair, onGenerated }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const [url, source] = [`${prefix}SAMLMetadataURL`, `${prefix}SAMLSource`] as const
  const base = `${origin}/api${prefix === '' ? '' : '/admin'}/saml`
  return (
    <RealmCard prefix={prefix}>
      <Controller
        control={form.control}
        name={source}
        render={({ field }) => (
          <RadioGroup
            label={t('admin.auth.metadata')}
            value={field.value}
            onChange={field.onChange}
            options={(['url', 'file'] as const).map((value) => ({
              value,
              label: t(`admin.auth.metadata.${value}`),
            }))}
          />
        )}
      />
      {form.watch(source) === 'url' ? (
        <TextField
          label={t('admin.auth.metadataUrl')}
          description={t('admin.auth.metadataUrlText')}
          type="url"
          autoComplete="off"
          placeholder="https://idp.example.org/metadata"
          error={errors.ofField(form.formState.errors[url]?.message)}
          {...form.register(url)}
        />
      ) : (
        <TextFileField
          form={form}
          name={`${prefix}SAMLMetadataFile`}
          label={t('admin.auth.metadataFile')}
          accept=".xml,application/xml,text/xml,application/samlmetadata+xml"
          rows={6}
        />
      )}
      <KeyPairFields form={form} prefix={prefix} isRecorded={hasKeyPair} onGenerated={onGenerated} />
      <CopyRows
        title={t('admin.auth.tellProvider')}
        rows={[
          { label: t('admin.auth.spMetadata'), text: `${base}/metadata` },
          { label: t('admin.auth.acs'), text: `${base}/acs` },
        ]}
      />
    </RealmCard>
  )
}

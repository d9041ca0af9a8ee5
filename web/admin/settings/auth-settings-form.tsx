import { zodResolver } from '@hookform/resolvers/zod'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { AuthSettingsAnswer } from '#server/settings/auth-setting-wire.schema.ts'
import { Tabs } from '../../components/tabs.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { saveAuthSettings, type Versioned } from '../admin-api.ts'
import { queries } from '../admin-queries.ts'
import { ChangedMeanwhile } from '../components/changed-meanwhile.tsx'
import { toFieldFault } from '../people/field-fault.ts'
import { useRefusal } from '../people/use-refusal.ts'
import { useAdminAction } from '../use-admin-action.ts'
import {
  type AuthField,
  type AuthTab,
  type AuthValues,
  authFormSchema,
  realmPrefixes,
  tabOf,
  toAuthChange,
  toAuthValues,
} from './auth-form.ts'
import { LdapFields } from './ldap-fields.tsx'
import { OidcFields } from './oidc-fields.tsx'
import { SamlFields } from './saml-fields.tsx'
import { SaveBar } from './save-bar.tsx'

/** One form over all tabs: it is read, saved and refused as one. A fault on a tab that isn't shown brings it up. */
export function AuthSettingsForm({ settings }: { settings: Versioned<AuthSettingsAnswer> }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const client = useQueryClient()
  const [tab, setTab] = useState<AuthTab>('saml')
  const { data: stored, etag } = settings
  const form = useForm<AuthValues>({
    resolver: zodResolver(authFormSchema(stored)),
    defaultValues: toAuthValues(stored),
    shouldFocusError: false,
  })
  const { errors: faults, isDirty } = form.formState
  useDirtyForm(isDirty)
  const places = { fields: Object.keys(toAuthValues(stored)) as AuthField[] }
  const { refuse, isOutdated, forget } = useRefusal(form, places)
  const bringUp = (field: AuthField) => flushSync(() => setTab((shown) => tabOf(field) ?? shown))

  /** What is stored, read anew; with `keeps` what was typed and not saved stays. */
  const reload = async ({ keeps }: { keeps: boolean }) => {
    const fresh = await client.fetchQuery({ ...queries.authSettings, staleTime: 0 })
    form.reset(toAuthValues(fresh.data), { keepDirtyValues: keeps })
    forget()
  }
  const save = useAdminAction({
    run: saveAuthSettings,
    stale: [{ queryKey: ['ssoWays'] }],
    done: 'admin.settings.updated',
    onDone: () => void reload({ keeps: false }).catch(refuse),
    onFailed: (error) => {
      const fault = toFieldFault(error, places)
      if (fault) bringUp(fault.field)
      refuse(error)
    },
  })
  const submit = form.handleSubmit(
    (values) => save.mutate({ body: toAuthChange(values, stored), etag }),
    (found) => {
      const first = places.fields.find((field) => found[field] !== undefined)
      if (first === undefined) return
      bringUp(first)
      form.setFocus(first)
    },
  )
  const origin = toOrigin(form.watch('PublicURL')) ?? stored.PublicURL
  const generated = () => void reload({ keeps: true }).catch(refuse)
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-6">
      {isOutdated ? <ChangedMeanwhile onReload={() => void reload({ keeps: false }).catch(refuse)} /> : null}
      <TextField
        label={t('admin.auth.publicUrl')}
        description={t('admin.auth.publicUrlText')}
        type="url"
        autoComplete="off"
        error={errors.ofField(faults.PublicURL?.message)}
        {...form.register('PublicURL')}
        className="max-w-2xl"
      />
      <Tabs
        label={t('admin.auth.title')}
        selected={tab}
        onChange={(id) => setTab(id as AuthTab)}
        keepMounted
        tabs={[
          {
            id: 'saml',
            label: t('admin.auth.tab.saml'),
            content: (
              <div className="grid gap-5 lg:grid-cols-2">
                {realmPrefixes.map((prefix) => (
                  <SamlFields
                    key={prefix}
                    form={form}
                    prefix={prefix}
                    origin={origin}
                    hasKeyPair={stored[`${prefix}SAMLKeyFileSet`] || stored[`${prefix}SAMLCertFileSet`]}
                    onGenerated={generated}
                  />
                ))}
              </div>
            ),
          },
          {
            id: 'oidc',
            label: t('admin.auth.tab.oidc'),
            content: (
              <div className="grid gap-5 lg:grid-cols-2">
                {realmPrefixes.map((prefix) => (
                  <OidcFields
                    key={prefix}
                    form={form}
                    prefix={prefix}
                    origin={origin}
                    hasSecret={stored[`${prefix}OIDCClientSecret`] !== ''}
                  />
                ))}
              </div>
            ),
          },
          {
            id: 'ldap',
            label: t('admin.auth.tab.ldap'),
            content: <LdapFields form={form} hasPassword={stored.LDAPBindPassword !== ''} />,
          },
        ]}
      />
      <SaveBar isDirty={isDirty} isSaving={save.isPending} onCancel={() => form.reset()} />
    </form>
  )
}

/** The origin of a typed address; undefined while it isn't one. */
const toOrigin = (address: string): string | undefined =>
  /^https?:/.test(address) && URL.canParse(address) ? new URL(address).origin : undefined

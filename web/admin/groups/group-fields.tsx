import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { Controller, useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { GroupRow } from '#server/groups/group.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Checklist } from '../../components/checklist.tsx'
import { Select } from '../../components/select.tsx'
import { TextField } from '../../components/text-field.tsx'
import { nameOrder } from '../../i18n/in-locale.ts'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { queries } from '../admin-queries.ts'
import { EditForm } from '../components/edit-form.tsx'
import { UserChecklist } from '../knocs/user-checklist.tsx'
import { useRefusal } from '../people/use-refusal.ts'
import { type GroupForm, type GroupValues, groupFormSchema, groupTypes, toGroupValues } from './group-form.ts'

type Props = {
  formId: string
  group: GroupRow | undefined
  onSave: (form: GroupForm, onError: (error: unknown) => void) => void
  onReload: () => void
}

/** Where the group form shows what the server refuses. */
const places = {
  fields: ['Name', 'Description', 'Type'],
  codes: { 'err.groupNameTaken': 'Name' },
} as const

/** The fields of a group; who is in a SAML group is its provider's to say. Console §2 "Groups". */
export function GroupFields({ formId, group, onSave, onReload }: Props) {
  const { t, i18n } = useTranslation()
  const byName = nameOrder(i18n.language)
  const errors = useErrorText()
  const knocs = useQuery(queries.knocs)
  const form = useForm<GroupValues, unknown, GroupForm>({
    resolver: zodResolver(groupFormSchema),
    defaultValues: toGroupValues(group),
  })
  const { errors: faults, isDirty } = form.formState
  useDirtyForm(isDirty)
  const { refuse, isOutdated } = useRefusal(form, places)
  const isNew = group === undefined
  const type = form.watch('Type')
  return (
    <EditForm
      formId={formId}
      onSubmit={form.handleSubmit((values) => onSave(values, refuse))}
      isOutdated={isOutdated}
      onReload={onReload}
    >
      <TextField
        label={t('admin.groups.name')}
        autoComplete="off"
        autoFocus
        error={errors.ofField(faults.Name?.message)}
        {...form.register('Name')}
      />
      <Controller
        control={form.control}
        name="Type"
        render={({ field }) => (
          <Select
            label={t('admin.groups.type')}
            description={t(isNew ? 'admin.groups.typeText' : 'admin.groups.typeFixed')}
            value={field.value}
            onChange={field.onChange}
            disabled={!isNew}
            error={errors.ofField(faults.Type?.message)}
            options={groupTypes.map((value) => ({
              value,
              label: t(`admin.groupType.${value}`),
              description: t(`admin.groups.type.${value}`),
            }))}
          />
        )}
      />
      <TextField
        label={t('admin.groups.description')}
        optional
        autoComplete="off"
        error={errors.ofField(faults.Description?.message)}
        {...form.register('Description')}
        className="sm:col-span-2"
      />
      <Controller
        control={form.control}
        name="ACLIDs"
        render={({ field }) => (
          <Checklist
            label={t('admin.groups.knocs')}
            description={t('admin.groups.knocsText')}
            items={(knocs.data ?? [])
              .toSorted((one, other) => byName(one.Name, other.Name))
              .map(({ ID, Name, AgentName }) => ({ id: ID, label: Name, detail: AgentName ?? undefined }))}
            selected={field.value}
            onChange={field.onChange}
            emptyText={t(knocs.error ? 'admin.groups.knocsFailed' : 'admin.groups.noKnocs')}
          />
        )}
      />
      {type === 'saml' ? (
        <Banner title={t('admin.groups.samlUsers')} className="self-start">
          {t('admin.groups.samlUsersText')}
        </Banner>
      ) : (
        <Controller
          control={form.control}
          name="members"
          render={({ field }) => (
            <UserChecklist
              members={field.value}
              onChange={field.onChange}
              description={t('admin.groups.usersText')}
            />
          )}
        />
      )}
    </EditForm>
  )
}

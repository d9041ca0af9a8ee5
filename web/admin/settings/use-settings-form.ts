import { zodResolver } from '@hookform/resolvers/zod'
import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type DefaultValues, type FieldValues, type Path, useForm } from 'react-hook-form'
import type { z } from 'zod'
import type { SettingsAnswer } from '#server/settings/setting.schema.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import type { Versioned } from '../admin-api.ts'
import { queries } from '../admin-queries.ts'
import type { FieldPlaces } from '../people/field-fault.ts'
import { useRefusal } from '../people/use-refusal.ts'
import { useAdminAction } from '../use-admin-action.ts'

type Section<Values extends FieldValues, Body> = {
  settings: Versioned<SettingsAnswer>
  toValues: (settings: SettingsAnswer) => Values
  /** From what is typed to the wire's field of the same name. */
  schema: z.ZodType<Body, Values>
  run: (change: { body: Partial<Body>; etag: string | null }) => Promise<null>
  places: FieldPlaces<Path<Values>>
  stale?: readonly { queryKey: QueryKey }[]
}

/**
 * The form of one section. The sections are read as one and have one version, but each writes only what was changed in
 * it: a section that is saved leaves what is typed in the others standing, on the new version.
 */
export function useSettingsForm<Values extends FieldValues, Body extends object>(
  section: Section<Values, Body>,
) {
  const { settings, toValues, schema, run, places, stale = [] } = section
  const client = useQueryClient()
  const form = useForm<Values, unknown, Body>({
    resolver: zodResolver(schema),
    defaultValues: toValues(settings.data) as DefaultValues<Values>,
  })
  const { isDirty, dirtyFields } = form.formState
  useDirtyForm(isDirty)
  const { refuse, isOutdated, forget } = useRefusal(form, places)
  const [hasMoved, setHasMoved] = useState(false)
  const base = useRef(settings)
  const isReloading = useRef(false)
  const changedNames = () => Object.keys(dirtyFields) as (keyof Values & keyof Body)[]

  useEffect(() => {
    if (isReloading.current || base.current.etag === settings.etag) return
    const [before, now] = [toValues(base.current.data), toValues(settings.data)]
    base.current = settings
    if (Object.keys(dirtyFields).some((name) => before[name] !== now[name])) setHasMoved(true)
    form.reset(now, { keepDirtyValues: true })
  }, [settings, dirtyFields, form, toValues])

  /** Starts again from what is stored. */
  const reload = async () => {
    isReloading.current = true
    try {
      base.current = await client.fetchQuery({ ...queries.settings, staleTime: 0 })
      form.reset(toValues(base.current.data))
      setHasMoved(false)
      forget()
    } catch (error) {
      refuse(error)
    } finally {
      isReloading.current = false
    }
  }
  const save = useAdminAction({
    run,
    stale,
    done: 'admin.settings.updated',
    onDone: () => void reload(),
    onFailed: refuse,
  })
  const submit = form.handleSubmit((values) => {
    const body = Object.fromEntries(changedNames().map((name) => [name, values[name]])) as Partial<Body>
    save.mutate({ body, etag: settings.etag })
  })
  return {
    form,
    isDirty,
    isSaving: save.isPending,
    isOutdated: isOutdated || hasMoved,
    reload: () => void reload(),
    submit: () => void submit(),
    cancel: () => form.reset(),
  }
}

/** A section's form, whatever its fields are. */
export type SettingsFormState = Omit<ReturnType<typeof useSettingsForm<FieldValues, object>>, 'form'>

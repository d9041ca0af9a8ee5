import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { agentSchema } from '#server/agents/agent.schema.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { createAgent, renameAgent } from '../admin-api.ts'
import { queries, stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'

const nameSchema = agentSchema.pick({ Name: true })

type Props = {
  open: boolean
  /** Undefined: a new agent. */
  agentId: string | undefined
  onClose: () => void
  onCreated: (name: string) => void
}

/** Creates or renames an agent: one field. */
export function AgentNameDialog({ open, agentId, onClose, onCreated }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const formId = useId()
  const agent = useQuery({ ...queries.agent(agentId ?? ''), enabled: open && agentId !== undefined })
  const form = useForm({ resolver: zodResolver(nameSchema), defaultValues: { Name: '' } })
  const { reset } = form
  const current = agentId === undefined ? '' : agent.data?.data.Name
  useEffect(() => {
    if (open && current !== undefined) reset({ Name: current })
  }, [open, current, reset])

  const create = useAdminAction({
    run: createAgent,
    stale: [stale.agents],
    done: 'admin.agents.created',
    onDone: (_, name) => onCreated(name),
  })
  const rename = useAdminAction({
    run: renameAgent,
    stale: [stale.agents],
    done: 'admin.agents.updated',
    onDone: onClose,
  })
  const submit = form.handleSubmit(({ Name }) => {
    if (agentId === undefined) create.mutate(Name)
    else rename.mutate({ id: agentId, name: Name, etag: agent.data?.etag ?? null })
  })
  const isNew = agentId === undefined
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="sm"
      title={t(isNew ? 'admin.agents.createTitle' : 'admin.agents.editTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button
            type="submit"
            form={formId}
            variant="primary"
            busy={create.isPending || rename.isPending}
            disabled={!isNew && agent.data === undefined}
          >
            {t(isNew ? 'admin.create' : 'admin.save')}
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          label={t('admin.agents.name')}
          description={t('admin.agents.nameText')}
          error={errors.ofField(form.formState.errors.Name?.message)}
          autoComplete="off"
          autoFocus
          {...form.register('Name')}
        />
      </form>
    </Dialog>
  )
}

import { zodResolver } from '@hookform/resolvers/zod'
import { useEffect, useId } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import type { AgentList } from '#server/agents/agent-list.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextAreaField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { forgetList } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'

const reasonSchema = z.object({
  Reason: z.string().trim().min(1, 'form.reasonRequired').max(500, 'form.reasonLong'),
})

/** Gives a list up whose doors will never be seen closed; the reason is written down. Decision 4. */
export function ForgetListDialog({
  agentId,
  list,
  onClose,
}: {
  agentId: string
  list: AgentList | undefined
  onClose: () => void
}) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const formId = useId()
  const form = useForm({ resolver: zodResolver(reasonSchema), defaultValues: { Reason: '' } })
  const { reset } = form
  const forget = useAdminAction({
    run: forgetList,
    stale: [stale.agents, stale.status],
    done: 'admin.agent.forgotten',
    onDone: onClose,
    onFailed: () => {},
  })
  const listId = list?.ID
  const forgetError = forget.error
  const resetForget = forget.reset
  useEffect(() => {
    if (listId === undefined) return
    reset({ Reason: '' })
    resetForget()
  }, [listId, reset, resetForget])
  const submit = form.handleSubmit(({ Reason }) => {
    if (listId !== undefined) forget.mutate({ agentId, listId, reason: Reason })
  })
  return (
    <Dialog
      open={list !== undefined}
      onClose={onClose}
      title={t('admin.agent.forgetTitle', { name: list?.Name ?? '' })}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" form={formId} variant="danger" busy={forget.isPending}>
            {t('admin.agent.forget')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        className="flex flex-col gap-4 pb-2"
        onSubmit={(event) => void submit(event)}
      >
        {forgetError ? <Banner tone="danger" title={errors.ofError(forgetError)} /> : null}
        <p className="text-[0.9375rem] text-ink">
          {list !== undefined && list.Debts > 0
            ? t('admin.agent.forgetText', { count: list.Debts })
            : t('admin.agent.forgetTextNone')}
        </p>
        <TextAreaField
          label={t('admin.agent.reason')}
          description={t('admin.agent.reasonText')}
          error={errors.ofField(form.formState.errors.Reason?.message)}
          rows={3}
          autoFocus
          {...form.register('Reason')}
        />
      </form>
    </Dialog>
  )
}

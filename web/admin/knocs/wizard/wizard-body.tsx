import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { useMachine } from '@xstate/react'
import { useEffect, useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { stepperOf } from '#machines/knoc-wizard.machine.ts'
import { Stepper } from '../../../components/stepper.tsx'
import { isTextKey } from '../../../i18n/start-i18n.ts'
import { useDirtyForm } from '../../../shell/dirty-forms.ts'
import { queries, stale } from '../../admin-queries.ts'
import { useAdminAction } from '../../use-admin-action.ts'
import { useGoBack } from '../../use-go-back.ts'
import { KnocOptionsFields } from '../knoc-options-fields.tsx'
import { optionsFormSchema, toOptionsValues } from '../knoc-options-form.ts'
import { setSuggestions } from '../knoc-review.ts'
import { KnocSettingsFields } from '../knoc-settings-fields.tsx'
import { settingsFormSchema, toSettingsValues } from '../knoc-settings-form.ts'
import { toKnocInput } from '../knoc-wire.ts'
import type { Members } from '../members.ts'
import { MembersForm } from '../members-form.tsx'
import { AgentStep } from './agent-step.tsx'
import { CreationDialog } from './creation-dialog.tsx'
import type { WizardParts } from './knoc-wizard.tsx'
import { ReviewStep } from './review-step.tsx'
import { useKnocCreation } from './use-knoc-creation.ts'
import { WizardFooter } from './wizard-footer.tsx'

const nobody: Members = { userIds: [], groupIds: [], known: {} }

/** The steps of a wizard. The machine says which is open and what may follow; the forms hold what was typed. */
export function WizardBody({ type, definition, machine }: WizardParts) {
  const { t, i18n } = useTranslation()
  const [, navigate] = useLocation()
  const goBack = useGoBack('/admin/knocs/new')
  const [wizard, send] = useMachine(machine, { input: { variant: null } })
  const agents = useQuery(queries.agents)
  const settings = useForm({
    resolver: zodResolver(settingsFormSchema(type.backend)),
    defaultValues: toSettingsValues(type.backend),
  })
  const options = useForm({ resolver: zodResolver(optionsFormSchema), defaultValues: toOptionsValues() })
  const [members, setMembers] = useState(nobody)
  const creation = useKnocCreation()
  const { agentId } = wizard.context
  const step: string = wizard.value
  const agent = agents.data?.find(({ ID }) => ID === agentId)
  useDirtyForm(settings.formState.isDirty || options.formState.isDirty || members.userIds.length > 0)

  const create = useAdminAction({
    run: creation.create,
    stale: [stale.knocs, stale.users, stale.groups, stale.agents, stale.status],
    done: 'admin.knocs.created',
    onDone: () => {
      send({ type: 'submit.succeeded' })
      navigate('/admin/knocs')
    },
  })
  const submit = () => {
    if (agentId === null) return
    const draft = {
      type: type.backend,
      agentId,
      settings: settingsFormSchema(type.backend).parse(settings.getValues()),
      options: optionsFormSchema.parse(options.getValues()),
      ...members,
    }
    send({ type: 'submit' })
    create.mutate(toKnocInput(draft), {
      onError: (error) => send({ type: 'submit.failed', error: String(error) }),
    })
  }
  /** Next: a step with a form is checked first; the first fault gets the focus. */
  const check = (valid: boolean) => {
    send({ type: 'form.checked', step, valid })
    if (valid) send({ type: 'next' })
  }
  const onNext: Record<string, () => void> = {
    settings: () =>
      void settings.handleSubmit(
        () => check(true),
        () => check(false),
      )(),
    options: () =>
      void options.handleSubmit(
        () => check(true),
        () => check(false),
      )(),
    review: submit,
  }
  const steps = stepperOf(definition, step, wizard.context)
  const goTo = (id: string) => {
    const current = steps.findIndex(({ state }) => state === 'current')
    const target = steps.findIndex((other) => other.id === id)
    const count = target < 0 ? 0 : Math.max(0, current - target)
    for (let made = 0; made < count; made += 1) send({ type: 'back' })
  }
  const back = () => {
    send({ type: 'back' })
    if (steps[0]?.state === 'current') goBack()
  }
  const labelOf = (id: string) => {
    const key = `admin.step.${id}`
    return isTextKey(i18n, key) ? i18n.t(key) : id
  }
  const pages: Record<string, React.ReactNode> = {
    agent: (
      <AgentStep
        type={type}
        agents={agents.data}
        error={agents.error}
        onRetry={() => void agents.refetch()}
        agentId={agentId}
        onChoose={(id) => send({ type: 'agent.chosen', agentId: id })}
      />
    ),
    settings: (
      <KnocSettingsFields
        form={settings}
        type={type}
        suggestions={setSuggestions(agent?.Capabilities ?? null)}
      />
    ),
    options: <KnocOptionsFields form={options} />,
    assignments: <MembersForm members={members} onChange={setMembers} />,
    review: <ReviewStep type={type} agent={agent} settings={settings} options={options} members={members} />,
  }
  const shown = step === 'submitting' ? 'review' : step
  const page = useRef<HTMLElement>(null)
  useStepFocus(page, shown)
  return (
    <div className="flex flex-1 flex-col gap-8">
      <div className="max-w-5xl">
        <Stepper steps={steps.map(({ id, state }) => ({ id, label: labelOf(id), state }))} onSelect={goTo} />
      </div>
      <section ref={page} tabIndex={-1} aria-label={labelOf(shown)} className="outline-none">
        {pages[shown]}
      </section>
      <WizardFooter
        isLast={shown === definition.steps.at(-1)?.id}
        canGoOn={shown !== 'agent' || wizard.can({ type: 'next' })}
        busy={step === 'submitting'}
        onBack={back}
        onNext={onNext[shown] ?? (() => send({ type: 'next' }))}
        hint={shown === 'agent' && agentId === null ? t('admin.wizard.chooseAgent') : undefined}
      />
      <CreationDialog open={step === 'submitting'} progress={creation.progress} />
    </div>
  )
}

/** A new step starts at its top, with the focus there; not at the start. */
function useStepFocus(page: { current: HTMLElement | null }, step: string): void {
  const last = useRef(step)
  useEffect(() => {
    if (last.current === step) return
    last.current = step
    page.current?.focus({ preventScroll: true })
    window.scrollTo({ top: 0 })
  }, [page, step])
}

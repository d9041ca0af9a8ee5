import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { KnocRow } from '#server/knocs/knoc.schema.ts'
import { buttonClass } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { DoorMark } from '../../components/logo.tsx'
import { Menu } from '../../components/menu.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useToast } from '../../components/toast.tsx'
import { deleteKnoc } from '../admin-api.ts'
import { pollMs, queries, stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { duplicateNames } from './duplicate-names.ts'
import { knocColumns } from './knoc-columns.tsx'
import { KnocDetailDialog } from './knoc-detail-dialog.tsx'
import { KnocTypeCards } from './knoc-type-cards.tsx'

/** Knocs: which there are, who carries them out, and what stands open now. Console §2 "Knocs list". */
export function KnocsPage() {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const knocs = useQuery({ ...queries.knocs, staleTime: 0, refetchInterval: pollMs.home })
  const [viewedId, setViewedId] = useState<string | null>(null)
  const [deletedId, setDeletedId] = useState<string | null>(null)
  useAddressParameters(setViewedId)
  const remove = useAdminAction({
    run: deleteKnoc,
    stale: [stale.knocs, stale.users, stale.groups, stale.agents, stale.status],
    done: 'admin.knocs.deleted',
    onDone: () => setDeletedId(null),
    onFailed: () => {},
  })
  const rows = knocs.data?.filter(({ HideFromAdmins }) => !HideFromAdmins)
  const find = (id: string | null) => rows?.find(({ ID }) => ID === id)
  const edit = ({ ID }: KnocRow) => navigate(`/admin/knocs/${ID}/update`)
  const askDelete = ({ ID }: KnocRow) => {
    remove.reset()
    setViewedId(null)
    setDeletedId(ID)
  }
  const actionsOf = (knoc: KnocRow) => [
    { label: t('admin.edit'), icon: Pencil, onSelect: () => edit(knoc) },
    { label: t('admin.delete'), icon: Trash2, danger: true, onSelect: () => askDelete(knoc) },
  ]
  return (
    <>
      <PageHeader
        title={t('admin.knocs.title')}
        description={t('admin.knocs.lead')}
        actions={
          <Link href="/admin/knocs/new" className={buttonClass({ variant: 'primary' })}>
            <Plus aria-hidden="true" className="size-4" />
            {t('admin.knocs.create')}
          </Link>
        }
      />
      {rows?.length === 0 ? (
        <section className="flex flex-col gap-6 rounded-3xl border border-line bg-sunken p-6 sm:p-10">
          <div className="flex flex-col gap-2">
            <DoorMark className="size-12 text-accent-ink" />
            <h2 className="text-xl font-bold tracking-tight text-ink">{t('admin.knocs.empty')}</h2>
            <p className="max-w-xl text-[0.9375rem] text-muted">{t('admin.knocs.emptyText')}</p>
          </div>
          <KnocTypeCards />
        </section>
      ) : (
        <DataTable
          label={t('admin.knocs.title')}
          searchLabel={t('admin.knocs.search')}
          columns={knocColumns({
            t,
            twice: duplicateNames(rows ?? []),
            menuOf: (knoc) => (
              <Menu label={t('admin.actionsFor', { name: knoc.Name })} items={actionsOf(knoc)} />
            ),
            onView: ({ ID }) => setViewedId(ID),
          })}
          rows={rows}
          rowId={({ ID }) => ID}
          error={knocs.error}
          onRetry={() => void knocs.refetch()}
          initialSort={{ id: 'name', desc: false }}
          onRowClick={({ ID }) => setViewedId(ID)}
          empty={null}
        />
      )}
      <KnocDetailDialog knoc={find(viewedId)} onClose={() => setViewedId(null)} actionsOf={actionsOf} />
      <ConfirmDialog
        open={find(deletedId) !== undefined}
        onClose={() => setDeletedId(null)}
        onConfirm={() => deletedId !== null && remove.mutate(deletedId)}
        title={t('admin.knocs.deleteTitle')}
        text={t('admin.knocs.deleteText', { name: find(deletedId)?.Name ?? '' })}
        confirmLabel={t('admin.delete')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
    </>
  )
}

/** `viewKnocId` opens that knoc, `didUpdate` says so; both leave the address at once. Console §2. */
function useAddressParameters(view: (id: string) => void): void {
  const { t } = useTranslation()
  const say = useToast()
  const [search, setSearch] = useSearchParams()
  const viewed = search.get('viewKnocId')
  const didUpdate = search.has('didUpdate')
  /** What was acted on already: the address changes only after a render or two. */
  const told = useRef('')
  useEffect(() => {
    const asked = viewed === null && !didUpdate ? '' : `${viewed} ${didUpdate}`
    if (told.current === asked) return
    told.current = asked
    if (asked === '') return
    if (viewed !== null) view(viewed)
    if (didUpdate) say({ tone: 'ok', text: t('admin.knocs.updated') })
    setSearch(
      (current) => {
        const rest = new URLSearchParams(current)
        rest.delete('viewKnocId')
        rest.delete('didUpdate')
        return rest
      },
      { replace: true },
    )
  }, [viewed, didUpdate, view, say, t, setSearch])
}

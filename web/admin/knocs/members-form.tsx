import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { Checklist } from '../../components/checklist.tsx'
import { queries } from '../admin-queries.ts'
import { UserFormDialog } from '../users/user-form-dialog.tsx'
import type { Members } from './members.ts'
import { UserChecklist } from './user-checklist.tsx'

/** Who gets a knoc: users and groups, and a way to make the user that is missing. Console §2. */
export function MembersForm({
  members,
  onChange,
}: {
  members: Members
  onChange: (members: Members) => void
}) {
  const { t } = useTranslation()
  const groups = useQuery(queries.groups)
  const [isCreating, setIsCreating] = useState(false)
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <UserChecklist
        members={members}
        onChange={onChange}
        action={
          <Button size="sm" icon={UserPlus} onClick={() => setIsCreating(true)}>
            {t('admin.users.create')}
          </Button>
        }
      />
      <Checklist
        label={t('admin.members.groups')}
        description={t('admin.members.groupsText')}
        items={(groups.data ?? []).map(({ ID, Name, Description, UserCount, Type }) => ({
          id: ID,
          label: Name,
          detail: [
            t(`admin.groupType.${Type}`),
            t('admin.members.userCount', { count: UserCount }),
            Description,
          ]
            .filter(Boolean)
            .join(' · '),
        }))}
        selected={members.groupIds}
        onChange={(groupIds) => onChange({ ...members, groupIds })}
        emptyText={groups.error ? t('admin.members.groupsFailed') : t('admin.members.noGroups')}
      />
      <UserFormDialog
        open={isCreating}
        user={undefined}
        onClose={() => setIsCreating(false)}
        onCreated={(user) =>
          onChange({
            ...members,
            userIds: [...members.userIds, user.ID],
            known: { ...members.known, [user.ID]: user },
          })
        }
      />
    </div>
  )
}

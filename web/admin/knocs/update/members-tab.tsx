import { useState } from 'react'
import type { KnocDetail } from '#server/knocs/knoc.schema.ts'
import { useDirtyForm } from '../../../shell/dirty-forms.ts'
import type { Members } from '../members.ts'
import { MembersForm } from '../members-form.tsx'
import { TabFooter } from './tab-footer.tsx'
import type { KnocUpdating } from './use-knoc-update.ts'

/** Who has a knoc that exists. */
export function MembersTab({ detail, save, isSaving }: KnocUpdating & { detail: KnocDetail }) {
  const [members, setMembers] = useState<Members>({
    userIds: detail.UserIDs,
    groupIds: detail.GroupIDs,
    known: {},
  })
  const { userIds, groupIds } = members
  useDirtyForm(userIds !== detail.UserIDs || groupIds !== detail.GroupIDs)
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        save({ part: 'members', userIds, groupIds })
      }}
    >
      <MembersForm members={members} onChange={setMembers} />
      <TabFooter isSaving={isSaving} />
    </form>
  )
}

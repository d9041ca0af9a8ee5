/** How often an admin may put the enrolment of the second factor off. Specification README "Deferring and enrolling". */
const deferralsAtMost = 3

/** Whether an administrator's enrolment may still be put off. Users never may. */
export const isDeferable = ({ totpDeferrals }: { totpDeferrals: number }): boolean =>
  totpDeferrals < deferralsAtMost

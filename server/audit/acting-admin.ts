/** Who changes something and in which request, as the audit log and LastModifiedBy tell it. */
export type Acting = {
  /** The admin's user name. */
  by: string
  requestId: string | null
}

/** The administrator a request acts for. */
export const actingAdmin = (c: { var: { admin: { name: string }; requestId?: string } }): Acting => ({
  by: c.var.admin.name,
  requestId: c.var.requestId ?? null,
})

import { z } from 'zod'
import { newPasswordSchema } from '#server/auth/auth.schema.ts'

/** An admin's own new password: the old one, the new one, and the new one again. Portal §5. */
export const passwordFormSchema = z
  .object({
    ExistingPassword: z.string().min(1),
    NewPassword: newPasswordSchema,
    ConfirmPassword: z.string(),
  })
  .refine(({ NewPassword, ConfirmPassword }) => NewPassword === ConfirmPassword, {
    error: 'err.passwordsDontMatch',
    path: ['ConfirmPassword'],
    when: () => true,
  })

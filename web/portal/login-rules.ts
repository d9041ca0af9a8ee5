import { zodResolver } from '@hookform/resolvers/zod'
import { loginSchema } from '#server/auth/auth.schema.ts'

/** The rules of the login form: those of the request it makes. */
export const loginRules = zodResolver(loginSchema)

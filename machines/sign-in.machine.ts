import { assign, initialTransition, setup, transition } from 'xstate'

/**
 * Signing in, one machine for both realms: right password, then the second factor or its enrolment, then in.
 *
 * The server asks it for the next step after a right password; the web runs it as an actor to choose the screen.
 * Portal §4 "Login flow"; specification README "Second factor, sessions" and "Deferring and enrolling".
 */

/** What the account asks for, as known after a right password. */
export type SecondFactor = {
  /** The account must use a second factor. */
  totpEnabled: boolean
  /** A confirmed secret exists. */
  totpConfirmed: boolean
  /** A passkey is registered: it can be the second step. */
  hasPasskey: boolean
  /** Enrolment may still be put off: admins only, three times in all. */
  deferable: boolean
}

export type SignInEvent =
  | ({ type: 'credentials.accepted' } & SecondFactor)
  /** Wrong credentials or an account that may not sign in; `error` is a code of the catalogue. */
  | { type: 'credentials.refused'; error: string }
  /** A user's form was used by a browser that is signed in, or half, as an admin. */
  | { type: 'credentials.belongToAdmin' }
  | { type: 'totp.accepted' }
  | { type: 'totp.rejected'; error: string }
  | { type: 'enrolment.verified' }
  | { type: 'enrolment.deferred' }
  /** A half session lives for 5 minutes. */
  | { type: 'halfSession.expired' }
  | { type: 'session.ended' }
  | { type: 'signOut' }

type Context = { realm: 'user' | 'admin'; deferable: boolean; error: string | null }

const invalidSession = 'err.invalidSession'
const sessionExpired = 'err.sessionExpired'

const signInSetup = setup({
  types: {
    context: {} as Context,
    events: {} as SignInEvent,
    input: {} as { realm: 'user' | 'admin' },
  },
  guards: {
    needsNoSecondFactor: ({ event }) => event.type === 'credentials.accepted' && !event.totpEnabled,
    hasSecondFactor: ({ event }) =>
      event.type === 'credentials.accepted' && (event.totpConfirmed || event.hasPasskey),
    mayDefer: ({ context }) => context.realm === 'admin' && context.deferable,
    isUserRealm: ({ context }) => context.realm === 'user',
  },
  actions: {
    rememberDeferable: assign({
      deferable: ({ event }) => event.type === 'credentials.accepted' && event.deferable,
      error: null,
    }),
    keepError: assign({ error: ({ event }) => ('error' in event ? event.error : null) }),
    forget: assign({ deferable: false, error: null }),
    sayExpired: assign({ deferable: false, error: sessionExpired }),
    sayInvalid: assign({ deferable: false, error: invalidSession }),
  },
})

const askForCredentials = signInSetup.createStateConfig({
  on: {
    'credentials.accepted': [
      { guard: 'needsNoSecondFactor', target: 'signedIn', actions: 'forget' },
      { guard: 'hasSecondFactor', target: 'verifyingTotp', actions: 'rememberDeferable' },
      { target: 'enrolling', actions: 'rememberDeferable' },
    ],
    'credentials.refused': { target: 'refused', actions: 'keepError' },
    'credentials.belongToAdmin': { guard: 'isUserRealm', target: 'adminFlow', actions: 'forget' },
  },
})

/** Signing in; see the file's head. */
export const signInMachine = signInSetup.createMachine({
  id: 'signIn',
  context: ({ input }) => ({ realm: input.realm, deferable: false, error: null }),
  initial: 'credentials',
  states: {
    credentials: askForCredentials,
    /** The same form, with what went wrong. */
    refused: askForCredentials,
    verifyingTotp: {
      on: {
        'totp.accepted': { target: 'signedIn', actions: 'forget' },
        'totp.rejected': { actions: 'keepError' },
        'halfSession.expired': { target: 'refused', actions: 'sayExpired' },
        signOut: { target: 'credentials', actions: 'forget' },
      },
    },
    enrolling: {
      on: {
        'enrolment.verified': { target: 'signedIn', actions: 'forget' },
        'enrolment.deferred': { guard: 'mayDefer', target: 'signedIn', actions: 'forget' },
        'totp.rejected': { actions: 'keepError' },
        'halfSession.expired': { target: 'refused', actions: 'sayExpired' },
        signOut: { target: 'credentials', actions: 'forget' },
      },
    },
    /** The browser is an admin's: the admin's own sign-in goes on. */
    adminFlow: { on: { signOut: { target: 'credentials', actions: 'forget' } } },
    signedIn: {
      on: {
        'session.ended': { target: 'refused', actions: 'sayInvalid' },
        signOut: { target: 'credentials', actions: 'forget' },
      },
    },
  },
})

/** What has to follow a right password. */
export type SignInStep = 'signedIn' | 'verifyingTotp' | 'enrolling'

/** The machine's answer after a right password. Total: whatever isn't plainly in needs the second factor. */
export function nextSignInStep(account: { realm: 'user' | 'admin' } & SecondFactor): SignInStep {
  const { realm, totpEnabled, totpConfirmed, hasPasskey, deferable } = account
  const [start] = initialTransition(signInMachine, { realm })
  const [next] = transition(signInMachine, start, {
    type: 'credentials.accepted',
    totpEnabled,
    totpConfirmed,
    hasPasskey,
    deferable,
  })
  if (next.matches('signedIn')) return 'signedIn'
  return next.matches('verifyingTotp') ? 'verifyingTotp' : 'enrolling'
}

/** Whether an account at this step may put its enrolment off. The server asks before it counts the deferral. */
export const canDefer = (account: { realm: 'user' | 'admin' } & SecondFactor): boolean =>
  nextSignInStep(account) === 'enrolling' &&
  signInMachine
    .resolveState({
      value: 'enrolling',
      context: { realm: account.realm, deferable: account.deferable, error: null },
    })
    .can({ type: 'enrolment.deferred' })

/** The refusal that names the step still to be made (403). */
export const stepCodes = {
  verifyingTotp: 'err.totpVerificationRequired',
  enrolling: 'err.totpEnrolmentRequired',
} as const satisfies Record<Exclude<SignInStep, 'signedIn'>, string>

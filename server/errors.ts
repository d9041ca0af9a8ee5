/**
 * The error catalogue: every code the API can answer with, and its HTTP status.
 *
 * A code is a translation key; its text stands in web/i18n. A test holds the two against each other.
 * Statuses and codes: specification README "Envelope" and "Codes for the messages without one",
 * portal §8, console §8.
 */
export const errorStatus = {
  'err.badRequest': 400,
  'err.mismatchingIDs': 400,
  'err.unsupportedProtocol': 400,
  'err.invalidSession': 401,
  'err.invalidCredentials': 401,
  'err.unauthorised': 401,
  'err.sessionExpired': 401,
  'err.addressMovedTooOften': 401,
  'err.authenticationFailed': 401,
  'err.invalidToken': 401,
  'err.agentUnknown': 401,
  'err.invalidApiKey': 401,
  'err.accountDisabled': 403,
  'err.loginNotPermitted': 403,
  'err.totpVerificationRequired': 403,
  'err.totpEnrolmentRequired': 403,
  'err.accessRestricted': 403,
  'err.proxyNotTrusted': 403,
  'err.foreignOrigin': 403,
  'err.unlicensed': 403,
  'err.userUnlicensed': 403,
  'err.userLimitReached': 403,
  'err.passwordNotLocal': 403,
  'err.ownSecondFactor': 403,
  'err.ownAccount': 403,
  'err.forbidden': 403,
  'err.apiKeyNotPermitted': 403,
  'err.addressNotAllowed': 403,
  'err.notFound': 404,
  'err.samlNotConfigured': 404,
  'err.oidcNotConfigured': 404,
  'err.methodNotAllowed': 405,
  'err.userAlreadyVerified': 409,
  'err.alreadyVerified': 409,
  'err.deferralsUsedUp': 409,
  'err.tooManyPasskeys': 409,
  'err.passkeyKnown': 409,
  'err.passkeysUnavailable': 409,
  'err.confirmReplacement': 409,
  'err.addressNotSeen': 409,
  'err.addressChanged': 409,
  'err.addressNotGrantable': 409,
  'err.noListForAddress': 409,
  'err.changedMeanwhile': 409,
  'err.sessionChanged': 409,
  'err.credentialsRequired': 409,
  'err.agentNameTaken': 409,
  'err.agentConflict': 409,
  'err.agentKeyMismatch': 409,
  'err.userNameTaken': 409,
  'err.groupNameTaken': 409,
  'err.apiKeyNameTaken': 409,
  'err.detachBackends': 409,
  'err.listInUse': 409,
  'err.detachAcls': 409,
  'err.partOfKnoc': 409,
  'err.backendTypeFixed': 409,
  'err.confirmWholeInternet': 409,
  'err.targetTaken': 409,
  'err.lastOwner': 409,
  'err.createAgentBeforeBackend': 409,
  'err.createBackendBeforeACL': 409,
  'err.failedToRefreshLicenseStatus': 409,
  'err.agentNeverConnected': 409,
  'err.payloadTooLarge': 413,
  'err.unsupportedMediaType': 415,
  'err.invalidField': 422,
  'err.invalidCidr': 422,
  'err.invalidIpAddress': 422,
  'err.invalidLicence': 422,
  'err.licenceExpired': 422,
  'err.maximumGrantDurationInvalid': 422,
  'err.agentIncapable': 422,
  'err.agentIdInvalid': 422,
  'err.noBackendSelected': 422,
  'err.ipsetNameRequired': 422,
  'err.ipsetNameInvalid': 422,
  'err.aclIdRequired': 422,
  'err.aclIdMustBeNumber': 422,
  'err.aclNameRequired': 422,
  'err.invalidAclName': 422,
  'err.repeatedEnvVarNames': 422,
  'err.emptyEnvVarName': 422,
  'err.invalidEnvVarName': 422,
  'err.allowlistAccessIpRestrictionFormRequired': 422,
  'err.ipsetNoCommand': 422,
  'err.ipsetNoSudo': 422,
  'err.agentBackendTypeNotSupported': 422,
  'err.passwordLength': 422,
  'err.passwordLeaked': 422,
  'err.passwordIsUserName': 422,
  'err.invalidCode': 422,
  'err.invalidPasskey': 422,
  'err.distinguishedNameRequired': 422,
  'err.samlMetadataInvalid': 422,
  'err.samlMetadataUnreachable': 422,
  'err.keyPairInvalid': 422,
  'err.oidcDiscoveryFailed': 422,
  'err.ldapUrlScheme': 422,
  'err.ldapFilterInvalid': 422,
  'err.kioskSessionDurationInvalid': 422,
  'err.logoInvalid': 422,
  'err.logoTooLarge': 422,
  'err.logoDimensions': 422,
  'err.passwordsDontMatch': 422,
  'err.urlScheme': 422,
  'err.tooManyRequests': 429,
  'err.internal': 500,
  'err.grantsNotRecorded': 500,
  'err.grantFailed': 500,
  'err.revokeFailed': 500,
  'err.listRefreshFailed': 500,
  'err.directoryUnavailable': 503,
  'err.identityProviderUnavailable': 503,
  'err.serviceUnavailable': 503,
} as const

/** A code of the catalogue. */
export type ErrorCode = keyof typeof errorStatus

/** Whether a text is a code of the catalogue. */
export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorStatus, text)

/** What an error may carry beside its code. */
export type ErrorFacts = {
  /** Shown to the caller after the translated code: a field's path, seconds, a name. Never a secret. */
  extra?: string
  /** For the log only. */
  detail?: string
  /** Sent as Retry-After; also the default of `extra`. */
  retryAfterSeconds?: number
  cause?: unknown
}

/** The one error class of the server: a refusal that a caller is told about in the catalogue's words. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: (typeof errorStatus)[ErrorCode]
  readonly extra: string | undefined
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, facts: ErrorFacts = {}) {
    super(facts.detail ? `${code}: ${facts.detail}` : code, { cause: facts.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = errorStatus[code]
    this.extra = facts.extra ?? facts.retryAfterSeconds?.toString()
    this.detail = facts.detail
    this.retryAfterSeconds = facts.retryAfterSeconds
  }
}

/** Makes the error to throw: `throw apiError('err.notFound')`. */
export const apiError = (code: ErrorCode, facts: ErrorFacts = {}): ApiError => new ApiError(code, facts)

import { fromPromise, type NonReducibleUnknown, type PromiseActorLogic } from 'xstate'

/** The default of an actor that whoever runs the machine must provide: it fails loudly instead of doing nothing. */
export const unprovided = <Output, Input extends NonReducibleUnknown = NonReducibleUnknown>(
  machine: string,
  actor: string,
): PromiseActorLogic<Output, Input> =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`${machine}: actor "${actor}" was not provided`)))

/** The same for an action or a delay. */
export const unprovidedAction =
  (machine: string, action: string): (() => never) =>
  () => {
    throw new Error(`${machine}: "${action}" was not provided`)
  }

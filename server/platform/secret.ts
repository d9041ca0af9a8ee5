import { inspect } from 'node:util'

const hidden = '«secret»'

/**
 * A value that must not reach a log, an error message or an answer: printed, inspected or made into JSON it
 * is «secret», and only {@link Secret.expose} gives the value itself.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value; call it only where it is used (opening a connection, deriving a key), never to pass it on. */
  expose(): string {
    return this.#value
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [inspect.custom](): string {
    return hidden
  }
}

import type adminTexts from './en-AU.admin.json'
import type texts from './en-AU.json'

/** Every text of portal and console, by key. The console's stand in a catalogue of their own, which users never download. */
export type Texts = typeof texts & typeof adminTexts

/** A key of a catalogue, plural forms included. */
export type TextKey = Extract<keyof Texts, string>

import { DOMParser } from '@xmldom/xmldom'

/** Namespaces of the messages. */
export const namespaces = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
} as const
export type Namespace = keyof typeof namespaces

/**
 * Parses with the parser that the signature library uses too, so that both see the same tree. Only for texts that
 * `findXmlFault` lets pass.
 *
 * @throws Error when the text is not well-formed; nothing is repaired.
 */
export function parseXml(text: string): Element {
  const refuse = (message: unknown): never => {
    throw new Error(`not well-formed: ${String(message).split('\n')[0]}`)
  }
  const errorHandler = { warning: refuse, error: refuse, fatalError: refuse }
  const { documentElement } = new DOMParser({ errorHandler }).parseFromString(text, 'text/xml')
  return documentElement ?? refuse('no element')
}

/** An element's children that are elements. */
export function elementsIn(parent: Node): Element[] {
  return Array.from(parent.childNodes).filter(isElement)
}

/** An element's children with a name. */
export function childrenNamed(parent: Element, namespace: Namespace, name: string): Element[] {
  return elementsIn(parent).filter((child) => isNamed(child, namespace, name))
}

/** Whether an element is the one that a standard means by a name. */
export function isNamed(element: Element, namespace: Namespace, name: string): boolean {
  return element.localName === name && element.namespaceURI === namespaces[namespace]
}

/** An element and all below it, in document order. */
export function withDescendants(element: Element): Element[] {
  return [element, ...elementsIn(element).flatMap(withDescendants)]
}

/** The text of an element that has nothing but text in it; undefined when there is anything else. */
export function plainTextOf(element: Element): string | undefined {
  const nodes = Array.from(element.childNodes)
  return nodes.every(({ nodeType }) => nodeType === textNode)
    ? nodes.map(({ nodeValue }) => nodeValue ?? '').join('')
    : undefined
}

/** An attribute without a namespace; undefined when it is absent or empty. */
export function attributeOf(element: Element, name: string): string | undefined {
  return element.getAttribute(name) || undefined
}

const [elementNode, textNode] = [1, 3]
const isElement = (node: Node): node is Element => node.nodeType === elementNode

import { expect, it } from 'vitest'
import type { SessionAddress } from '#server/status/status.schema.ts'
import { addressNews, mergeNews } from './address-news.ts'

const own = (IP: string): SessionAddress => ({ IP, Source: 'own' })
const found = (IP: string): SessionAddress => ({ IP, Source: 'discovered' })
const [home4, away4, home6, away6] = ['203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8::2']

it('is nothing while nothing changes', () => {
  expect(addressNews([own(home4), own(home6)], [own(home6), own(home4)])).toEqual([])
})

it('is a move within a family, for each family', () => {
  expect(addressNews([own(home4), own(home6)], [own(away4), own(away6)])).toEqual([
    { kind: 'moved', from: home4, to: away4 },
    { kind: 'moved', from: home6, to: away6 },
  ])
})

it('is no move from one family to the other', () => {
  expect(addressNews([own(home4)], [own(home6)])).toEqual([
    { kind: 'joined', address: home6 },
    { kind: 'dropped', address: home4 },
  ])
})

it('tells an own address from one that a lookup found', () => {
  expect(addressNews([own(home4)], [own(home4), own(home6), found(away4)])).toEqual([
    { kind: 'joined', address: home6 },
    { kind: 'found', address: away4 },
  ])
  expect(addressNews([own(home4), found(away4)], [own(home4)])).toEqual([{ kind: 'dropped', address: away4 }])
})

it('is a move as well to an address that was found before', () => {
  expect(addressNews([own(home4), found(away4)], [own(away4)])).toEqual([
    { kind: 'moved', from: home4, to: away4 },
  ])
})

it('puts a way over several addresses together, and shows the way back', () => {
  const first = mergeNews([], [{ kind: 'moved', from: 'a', to: 'b' }])
  const second = mergeNews(first, [{ kind: 'moved', from: 'b', to: 'c' }])
  expect(second).toEqual([{ kind: 'moved', from: 'a', to: 'c' }])
  expect(mergeNews(second, [{ kind: 'moved', from: 'c', to: 'a' }])).toEqual([
    { kind: 'moved', from: 'c', to: 'a' },
  ])
})

it('tells the last of what came and went, and no more than fits', () => {
  const joined = mergeNews([], [{ kind: 'joined', address: 'a' }])
  expect(mergeNews(joined, [{ kind: 'dropped', address: 'a' }])).toEqual([{ kind: 'dropped', address: 'a' }])
  const many = Array.from({ length: 10 }, (_, i) => ({ kind: 'found' as const, address: `${i}` }))
  expect(mergeNews([], many)).toHaveLength(4)
})

import type { Fault } from './fault.ts'

const gatewayTest = 'tests/e2e/delivery-gateway.test.ts'
const agentTest = 'agent/agent.test.ts'
const failClosedTest = 'agent/fail-closed.test.ts'
const journalTest = 'agent/journal.test.ts'
/** Takes a minute, and judges every kind of door from outside. */
const stormTest = { test: 'tests/chaos/storm.test.ts', title: 'leaves no door open' } as const

/** An expectation that was not met. */
const expected = /AssertionError|expected .* to |instead of rejecting/
/** Something that had to happen did not, in seconds. */
const notWithin = /not within \d+ ms/
const either = new RegExp(`${expected.source}|${notWithin.source}`)

/** The faults: one for each way in which a promise of delivery, journal, clock or read-back could quietly break. */
export const faults: readonly Fault[] = [
  {
    name: 'gateway-drops-closes',
    what: 'closes are left out of what is sent to the agent',
    file: 'server/gateway/link-orders.ts',
    find: 'nowMs: link.now(), orders: pending.map(({ order }) => order) })',
    replace:
      "nowMs: link.now(), orders: pending.map(({ order }) => order).filter(({ desired }) => desired === 'open') })",
    finders: [{ test: gatewayTest, title: 'no nudge brought it', because: expected }],
  },
  {
    name: 'large-change-left-half',
    what: 'what a large change leaves is forgotten when its process dies',
    file: 'server/entries/sweep.ts',
    find: ', settleLeft] as const',
    replace: '] as const',
    finders: [
      {
        test: 'tests/access/access.test.ts',
        title: 'ended by the sweep when the process dies',
        because: expected,
      },
    ],
  },
  {
    name: 'agent-drops-closes',
    what: 'the agent writes a close down and does not carry it out',
    file: 'agent/orders.ts',
    find: '    settle(closes)\n',
    replace: '',
    finders: [{ test: 'agent/order-of-orders.test.ts', title: 'at once', because: expected }],
  },
  {
    name: 'stale-generation',
    what: 'an order older than the known one is accepted',
    file: 'machines/journal.ts',
    find: "if (order.generation < current.generation) return 'stale'",
    replace: "if (order.generation < current.generation) return 'accept'",
    finders: [
      { test: 'machines/journal.test.ts', title: 'is refused when older itself', because: expected },
      { test: 'agent/order-of-orders.test.ts', title: 'out of order', because: either },
    ],
  },
  {
    name: 'repeated-order-applied',
    what: 'an order that was carried out is carried out again when it is repeated',
    file: 'machines/journal.ts',
    find: "order.generation === current.generation ? 'duplicate' : 'accept'",
    replace: "'accept'",
    finders: [{ test: 'agent/order-of-orders.test.ts', title: 'ten times', because: either }],
  },
  {
    name: 'journal-not-synced',
    what: 'the journal is written, but not brought to the disk',
    file: 'agent/journal.ts',
    find: 'PRAGMA synchronous = FULL',
    replace: 'PRAGMA synchronous = OFF',
    finders: [{ test: journalTest, title: 'power goes', because: expected }],
  },
  {
    name: 'journal-after-applying',
    what: 'an open is carried out before it is in the journal',
    file: 'agent/orders.ts',
    find: '    for (const { generation } of fresh) noteGeneration(generation)\n',
    replace:
      '    for (const { generation } of fresh) noteGeneration(generation)\n    for (const order of opens) deps.held.put(toJournalEntry(order, current))\n    settle(opens)\n    await new Promise((resolve) => setTimeout(resolve, 20))\n',
    finders: [{ test: agentTest, title: 'with a full disk still closes', because: either }],
  },
  {
    name: 'close-needs-the-disk',
    what: 'a close waits for the journal',
    file: 'agent/journal-writer.ts',
    find: '    noteClose: (held) => {\n',
    replace: '    noteClose: (held) => {\n      write({ entries: [held.entry] })\n',
    finders: [{ test: agentTest, title: 'with a full disk still closes', because: either }],
  },
  {
    name: 'snapshot-believed',
    what: 'a journal older than the last write of this boot is believed',
    file: 'agent/recover.ts',
    find: 'if (meta.serial >= readSerial(serialFile)) return read',
    replace: 'return read',
    finders: [{ test: agentTest, title: 'older than the last write of this boot', because: expected }],
  },
  {
    name: 'journal-of-another-boot',
    what: 'doors are opened by the journal of another boot',
    file: 'agent/start-up.ts',
    find: 'meta.clock !== null && meta.clock.bootId !== bootId',
    replace: "meta.clock !== null && bootId === ''",
    finders: [
      { test: failClosedTest, title: 'not even while the server is asked', because: expected },
      { test: failClosedTest, title: 'a clock that is right', because: expected },
    ],
  },
  {
    name: 'damage-believed',
    what: 'a line of the journal that was damaged on the disk is believed',
    file: 'agent/journal.ts',
    find: 'if (sum !== sumOf(Object.values(kept)))',
    replace: 'if (sum === null)',
    finders: [{ test: journalTest, title: 'damaged', because: expected }],
  },
  {
    name: 'clock-of-1970-believed',
    what: 'after a reboot a wall clock that went back is believed',
    file: 'machines/agent-clock.ts',
    find: 'journalLastAt !== null && wallNow >= journalLastAt',
    replace: 'journalLastAt !== null || wallNow > 0',
    finders: [{ test: 'agent/clock.test.ts', title: 'unless the wall clock went back', because: expected }],
  },
  {
    name: 'wall-clock-decides',
    what: 'ends are told by the clock that anybody can set',
    file: 'agent/clock.ts',
    find: '  const bootNow = () => bootMinusMonotonic + host.monotonicNow()\n',
    replace: `  const wallMinusMonotonic = host.wallNow() - host.monotonicNow()
  const bootNow = () => bootMinusMonotonic + host.wallNow() - wallMinusMonotonic
`,
    finders: [{ test: failClosedTest, title: 'set an hour ahead in the middle', because: either }],
  },
  {
    name: 'sleep-not-counted',
    what: 'time that the host slept does not count',
    file: 'agent/clock.ts',
    find: 'if (slept > clockJumpMs) bootMinusMonotonic += slept',
    replace: 'if (slept < 0) bootMinusMonotonic += slept',
    finders: [{ test: failClosedTest, title: 'when the host slept over its end', because: notWithin }],
  },
  {
    name: 'silence-from-traffic',
    what: 'the agent counts silence from any message instead of the truth it names',
    file: 'agent/clock.ts',
    find: 'truthAt = Math.max(truthAt, truthAtMs)',
    replace: 'truthAt = Math.max(truthAt, nowMs)',
    finders: [{ test: agentTest, title: 'closes for silence counted from the truth', because: notWithin }],
  },
  {
    name: 'truth-without-a-write',
    what: 'the server takes a database that it can only read for the truth',
    file: 'server/gateway/link.store.ts',
    find: `    with alive as (
      insert into replicas (id, host_name, version)
      values (\${replica.id}, \${replica.hostName}, \${replica.version})
      on conflict (id) do update set seen_at = now())
`,
    replace: '    with alive as (select ${replica.id}::text)\n',
    finders: [{ test: gatewayTest, title: 'no newer truth', because: expected }],
  },
  {
    name: 'never-cut',
    what: 'connections of closed entries are left alone',
    file: 'agent/lists.ts',
    find: '    list.cuts.add(cuts)\n',
    replace: '',
    finders: [
      { test: 'agent/cut/cut.test.ts', title: 'loses his connections', because: either },
      { ...stormTest, because: /streamLeft: / },
    ],
  },
  {
    name: 'cut-without-being-told',
    what: 'connections are ended although the knoc lets them drain',
    file: 'agent/cut/leaving.ts',
    find: 'held.entry.cut && held.applied?.stands !== false && !left.has(held)',
    replace: 'held.applied?.stands !== false && !left.has(held)',
    finders: [{ test: 'agent/cut/cut.test.ts', title: 'keeps them when nobody said so', because: either }],
  },
  {
    name: 'left-before-the-end',
    what: 'somebody who left a shared door before its last holder decides whether connections end',
    file: 'agent/cut/leaving.ts',
    find: ' && !left.has(held)',
    replace: '',
    finders: [
      {
        test: 'agent/cut/leaving.test.ts',
        title: 'one who left while somebody else stayed',
        because: expected,
      },
    ],
  },
  {
    name: 'late-answer-believed',
    what: 'the database’s clock is taken from the last answer, however late that came',
    file: 'server/gateway/database-clock.ts',
    find: 'looks = [...looks.filter((look) => look.offset > offset && at - look.at < keptMs), { offset, at }]',
    replace: 'looks = [{ offset, at }]',
    finders: [{ test: 'server/gateway/database-clock.test.ts', title: 'hardly behind', because: expected }],
  },
  {
    name: 'timeout-rounded-down',
    what: 'the kernel is told whole seconds rounded down, 0 among them, which is for ever',
    file: 'machines/journal.ts',
    find: 'Math.max(1, Math.ceil((until - now) / 1000))',
    replace: 'Math.max(0, Math.floor((until - now) / 1000))',
    finders: [
      { test: 'machines/journal.test.ts', title: 'the kernel is told', because: expected },
      { test: failClosedTest, title: 'however short it is', because: either },
    ],
  },
  {
    name: 'no-renewal',
    what: 'an end beyond what the kernel counts is not written again',
    file: 'agent/standing.ts',
    find: 'until - now > longestKernelTimeoutSeconds * 1000 ?',
    replace: 'until - now > longestKernelTimeoutSeconds * 1e9 ?',
    finders: [{ test: failClosedTest, title: 'written again halfway there', because: expected }],
  },
  {
    name: 'close-not-read-back',
    what: 'a close is called verified without a look at the set',
    file: 'agent/drivers/ipset.ts',
    find: 'if (lines.some(saysNoMember)) return verified(address)',
    replace: 'if (lines.length >= 0) return verified(address)',
    finders: [
      { test: 'agent/read-back.test.ts', title: 'closed only when it was seen gone', because: expected },
    ],
  },
  {
    name: 'open-not-read-back',
    what: 'an open is called verified without a look at the set',
    file: 'agent/drivers/ipset.ts',
    find: "return lines.some(saysMember) ? verified(address) : { address, outcome: 'failed', error: notSeen }",
    replace: 'return verified(address)',
    finders: [
      { test: 'agent/read-back.test.ts', title: 'open only when it was seen to be', because: expected },
    ],
  },
  {
    name: 'failed-close-forgotten',
    what: 'a close that failed is not given again',
    file: 'server/entries/sweep.ts',
    find: 'where applied_generation < generation and failed_generation = generation\n',
    replace:
      "where applied_generation < generation and failed_generation = generation and desired = 'open'\n",
    finders: [{ test: gatewayTest, title: 'given again, for ever', because: expected }],
  },
  {
    name: 'sweep-skips-ends',
    what: 'grants past their end are not ended',
    file: 'server/entries/sweep.ts',
    find: 'select id from grants where ended_at is null and ends_at <= statement_timestamp()',
    replace: 'select id from grants where ended_at is null and ends_at is null',
    finders: [
      {
        test: 'tests/access/access.test.ts',
        title: 'closes by the sweep what has reached its end',
        because: expected,
      },
    ],
  },
  {
    name: 'extension-not-sent',
    what: 'an extension that was put off is never ordered',
    file: 'server/entries/sweep.ts',
    find: 'where order_at <= statement_timestamp() order by order_at',
    replace: 'where order_at is null and order_at is not null order by order_at',
    finders: [{ test: gatewayTest, title: 'was put off is sent', because: expected }],
  },
  {
    name: 'locked-after-reading',
    what: 'entries are locked after the grants were read',
    file: 'server/entries/settle-entries.ts',
    find: `  const locked = await lockEntries(tx, ordered)
  const { holders, nowMs } = await readHolders(tx, ordered)
`,
    replace: `  const { holders, nowMs } = await readHolders(tx, ordered)
  const locked = await lockEntries(tx, ordered)
`,
    finders: [
      { test: 'tests/access/access.test.ts', title: 'two last holders leave together', because: expected },
    ],
  },
  {
    name: 'order-during-resync',
    what: 'orders are sent while the state for a resync is read',
    file: 'server/gateway/link-resync.ts',
    find: 'return link.inOrder(async () => {',
    replace: 'return ((task: () => Promise<void>) => task())(async () => {',
    finders: [{ test: gatewayTest, title: 'waits while the state of a resync is read', because: expected }],
  },
  {
    name: 'older-link-heard',
    what: 'results of an older link count',
    file: 'server/gateway/result.store.ts',
    find: 'join agents a on a.id = ${link.agentId} and a.link_epoch = ${link.linkEpoch}',
    replace: 'join agents a on a.id = ${link.agentId} and ${link.linkEpoch}::int is not null',
    finders: [{ test: gatewayTest, title: 'answers change nothing', because: expected }],
  },
  {
    name: 'job-is-the-carrier',
    what: 'without a job nobody looks at the table',
    file: 'server/gateway/create-gateway.ts',
    find: 'if (unsettled) links.get(agentId)?.nudge()',
    replace: 'if (unsettled && missedJobs < 0) links.get(agentId)?.nudge()',
    finders: [{ test: gatewayTest, title: 'no nudge brought it', because: expected }],
  },
  {
    name: 'database-went-back',
    what: 'a generation above the database’s own makes no new epoch',
    file: 'server/gateway/agent-link.ts',
    find: 'hello.highestGeneration > taken.lastGeneration',
    replace: 'hello.highestGeneration < 0',
    finders: [{ test: gatewayTest, title: 'it never handed out', because: expected }],
  },
  {
    name: 'drained-too-early',
    what: 'a list is forgotten before its last entry was seen closed',
    file: 'server/gateway/report.store.ts',
    find: "and (e.desired = 'open' or e.applied_generation < e.generation))",
    replace: "and e.desired = 'open')",
    finders: [{ test: gatewayTest, title: 'its last entry was seen closed', because: expected }],
  },
  {
    name: 'foreign-removed',
    what: 'what others put into a set is removed though nobody said so',
    file: 'agent/drift.ts',
    find: "every(({ foreignEntries }) => foreignEntries === 'remove')",
    replace: 'every(({ foreignEntries }) => foreignEntries !== undefined)',
    finders: [{ test: agentTest, title: 'keeps and reports what others put there', because: either }],
  },
  {
    name: 'clone-not-noticed',
    what: 'two processes that take one link from each other raise no alarm',
    file: 'server/gateway/take-overs.ts',
    find: 'return recent.length > 0',
    replace: 'return recent.length > 9',
    finders: [{ test: gatewayTest, title: 'is in conflict', because: expected }],
  },
  {
    name: 'ipset6-close-dropped',
    what: 'closes of IPv6 addresses are answered and not carried out',
    file: 'agent/drivers/ipset.ts',
    find: "  const close: Driver['close'] = async (entries) => {\n",
    replace:
      "  const close: Driver['close'] = async (entries) => {\n    if (family === 6) return entries.map(({ address }) => verified(address))\n",
    finders: [{ ...stormTest, because: /leftOpen[^\n]*ipset6|left open: ipset6/ }],
  },
  {
    name: 'haproxy-not-put-back',
    what: 'what was once seen to stand behind HAProxy is not put there again, whatever HAProxy has lost',
    file: 'agent/lists.ts',
    find: '(wanted === null ? [] : [{ address, ...wanted }])',
    replace:
      '(wanted === null || (list.driver.onReplaced !== undefined && holders(list, address).every(({ applied, entry }) => applied?.stands === true && applied.generation === entry.generation)) ? [] : [{ address, ...wanted }])',
    finders: [
      { test: 'agent/drivers/haproxy-agent.test.ts', title: 'within 5 s of a restart', because: notWithin },
    ],
  },
  {
    name: 'script-close-not-run',
    what: 'a script is not told of closes, which are reported as done',
    file: 'agent/drivers/script.ts',
    find: "close: (entries) => callEach('del', entries),",
    replace:
      "close: async (entries) => entries.map(({ address }) => ({ address, outcome: 'reported', error: null })),",
    finders: [{ ...stormTest, because: /leftOpen[^\n]*script|left open: script/ }],
  },
  {
    name: 'cut-at-every-port',
    what: 'a door that closes ends what its address has through other doors of the host',
    file: 'agent/cut/sockets.ts',
    find: "( ${where.join(' or ')} )`",
    replace: "( ${where.join(' or ')} or sport ge :1 )`",
    finders: [{ ...stormTest, because: /streamCut: / }],
  },
  {
    name: 'refresh-not-told',
    what: 'the agent says that it told a firewall to fetch its list, and did not',
    file: 'agent/drivers/panos.ts',
    find: 'const reply = await deps.api.op(settings.device, settings.command)\n',
    replace: 'const reply = { error: null }\n',
    finders: [
      {
        test: 'agent/drivers/panos.test.ts',
        title: 'is refreshed by name and virtual system',
        because: either,
      },
    ],
  },
  {
    name: 'flow-remembered',
    what: 'a socket is ended and its flow left in conntrack, which lets its port in again',
    file: 'agent/cut/connections.ts',
    find: 'rules.hasConntrack ? await forget() : null',
    replace: 'null',
    finders: [{ test: 'tests/e2e/connections.test.ts', title: 'not begun again', because: expected }],
  },
  {
    name: 'cut-of-who-is-back',
    what: 'somebody who was let in again while his cut waited for its turn is cut off all the same',
    file: 'agent/cut/sockets.ts',
    find: '.filter(isShut)',
    replace: '',
    finders: [{ test: 'agent/cut/cut.test.ts', title: 'let in again while', because: expected }],
  },
  {
    name: 'flows-one-by-one',
    what: 'each flow is forgotten by a command of its own, which holds up every other cut of the host',
    file: 'agent/cut/flows.ts',
    find: 'found.set(`${source} ${servicePort}`,',
    replace: 'found.set(`${found.size}`,',
    finders: [{ test: 'agent/cut/cut.test.ts', title: 'forgotten by one command', because: expected }],
  },
  {
    name: 'serial-begun-anew',
    what: 'a new journal counts its writes from nothing, so that an older snapshot counts for more',
    file: 'agent/recover.ts',
    find: 'serial: readSerial(serialFile) }',
    replace: 'serial: 0 }',
    finders: [{ test: journalTest, title: 'however few writes', because: expected }],
  },
]

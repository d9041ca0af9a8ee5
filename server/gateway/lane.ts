/** Runs tasks one after the other, in the order they came; a task that fails ends none of the others. */
export function createLane(onError: (error: unknown) => void) {
  let tail: Promise<void> = Promise.resolve()
  return function run(task: () => Promise<void>): Promise<void> {
    tail = tail.then(task).catch(onError)
    return tail
  }
}

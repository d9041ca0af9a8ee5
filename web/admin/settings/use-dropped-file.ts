import { type RefObject, useEffect, useEffectEvent, useState } from 'react'

/**
 * Files that are dropped on an element. A file that is dropped beside it doesn't take the page's place meanwhile.
 *
 * @returns whether something is held over the element just now
 */
export function useDroppedFile(place: RefObject<HTMLElement | null>, onFile: (file: File) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const take = useEffectEvent(onFile)
  useEffect(() => {
    const isWithin = ({ target }: DragEvent) => target instanceof Node && place.current?.contains(target)
    const onDrag = (event: DragEvent) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      const isOurs = isWithin(event) === true
      if (event.dataTransfer) event.dataTransfer.dropEffect = isOurs ? 'copy' : 'none'
      setIsOver(isOurs)
    }
    const onDrop = (event: DragEvent) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      setIsOver(false)
      const file = event.dataTransfer?.files[0]
      if (file !== undefined && isWithin(event)) take(file)
    }
    // Out of the window, or given up.
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setIsOver(false)
    window.addEventListener('dragover', onDrag)
    window.addEventListener('dragleave', onLeave)
    window.addEventListener('drop', onDrop)
    return () => {
      window.removeEventListener('dragover', onDrag)
      window.removeEventListener('dragleave', onLeave)
      window.removeEventListener('drop', onDrop)
    }
  }, [place])
  return isOver
}

const holdsFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true

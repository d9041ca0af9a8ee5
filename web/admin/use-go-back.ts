import { useLocation } from 'wouter'

/** Leads to the page before this one; where there is none (opened directly), to `fallback`. */
export function useGoBack(fallback: string): () => void {
  const [, navigate] = useLocation()
  return () => {
    if (window.history.length > 1) window.history.back()
    else navigate(fallback)
  }
}

import { Component, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { EmptyState } from '../components/empty-state.tsx'

/** Catches what a page throws while it draws, or a file of it that can't be loaded, and offers to start anew. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    return this.state.hasFailed ? <Failed /> : this.props.children
  }
}

function Failed() {
  const { t } = useTranslation()
  return (
    <div role="alert">
      <EmptyState
        title={t('error.page')}
        action={
          <Button variant="primary" onClick={() => window.location.reload()}>
            {t('shell.reload')}
          </Button>
        }
      />
    </div>
  )
}

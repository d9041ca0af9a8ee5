import { HomeEntries } from './home-entries.tsx'
import { HomeFrame } from './home-frame.tsx'

/** The new dashboard: the session, and the doors that are the user's. Portal §2 "New dashboard". */
export const HomePage = () => <HomeFrame>{({ status }) => <HomeEntries status={status} />}</HomeFrame>

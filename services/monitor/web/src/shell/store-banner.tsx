import { queryClient } from '../api/query-client.ts';
import { useStoreOffline } from '../api/store-offline.ts';
import { Button } from '../components/button.tsx';
import { Glyph } from '../glyphs/glyph.tsx';
import styles from './store-banner.module.css';

/** One banner for the whole page while the database is not available. */
export function StoreBanner() {
  if (!useStoreOffline()) return null;
  return (
    <div className={styles.banner} role="alert">
      <Glyph name="warning" colour="--danger" />
      <p>The database is not available. Panels that need it show their last figures; the others work.</p>
      <Button onPress={() => void queryClient.refetchQueries({ type: 'active' })}>Try again</Button>
    </div>
  );
}

import { queryClient } from '@pipeline/web/api/query-client.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { storeOffline } from '../api/store-offline.ts';
import styles from './store-banner.module.css';

/** One banner for the whole page while the database is not available. */
export function StoreBanner() {
  if (!useSignal(storeOffline)) return null;
  return (
    <div className={styles.banner} role="alert">
      <Glyph name="warning" colour="--danger" />
      <p>The database is not available. Panels that need it show their last figures; the others work.</p>
      <Button onPress={() => void queryClient.refetchQueries({ type: 'active' })}>Try again</Button>
    </div>
  );
}

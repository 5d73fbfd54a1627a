import { Button } from '../components/button.tsx';
import { zoneName } from '../format/time.ts';
import { preferences, setPreference } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';
import { usePainted } from '../timing/use-painted.ts';
import styles from './zone-switch.module.css';

const UNNAMED = { utc: 'UTC', local: 'local' };

/** Shows in which zone times are given; switches between local time and UTC. */
export function ZoneSwitch() {
  const { zone } = useSignal(preferences);
  // The names of zones are loaded with all locales of the browser, which takes longer than the first view.
  const name = usePainted() ? zoneName(zone, Date.now()) : UNNAMED[zone];
  return (
    <Button
      kind="quiet"
      aria-label={`Times are in ${name}. Switch to ${zone === 'utc' ? 'local time' : 'UTC'}`}
      onPress={() => setPreference('zone', zone === 'utc' ? 'local' : 'utc')}
    >
      <span className={styles.name}>{name}</span>
    </Button>
  );
}

import { Button } from '../components/button.tsx';
import { zoneName } from '../format/time.ts';
import { preferences, setPreference } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';

/** Shows in which zone times are given; switches between local time and UTC. */
export function ZoneSwitch() {
  const { zone } = useSignal(preferences);
  const name = zoneName(zone, Date.now());
  return (
    <Button
      kind="quiet"
      aria-label={`Times are in ${name}. Switch to ${zone === 'utc' ? 'local time' : 'UTC'}`}
      onPress={() => setPreference('zone', zone === 'utc' ? 'local' : 'utc')}
    >
      {name}
    </Button>
  );
}

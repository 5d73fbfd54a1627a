import { Button } from '@pipeline/web/components/button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { type Choice, SelectField } from '@pipeline/web/components/select-field.tsx';
import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { zoneName } from '@pipeline/web/format/time.ts';
import { type Preferences, preferences, setPreference } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { logOut } from '../api/session.ts';
import styles from './settings-dialog.module.css';

const THEMES: Choice<Preferences['theme']>[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];
const DENSITIES: Choice<Preferences['density']>[] = [
  { value: 'normal', label: 'Normal' },
  { value: 'dense', label: 'Dense' },
];

interface SettingsDialogProps {
  onClose: () => void;
  onShortcuts: () => void;
}

/** Settings of the person in this browser, shortcuts and logout. */
export default function SettingsDialog({ onClose, onShortcuts }: SettingsDialogProps) {
  const chosen = useSignal(preferences);
  const zones: Choice<Preferences['zone']>[] = [
    { value: 'local', label: `Local (${zoneName('local', Date.now())})` },
    { value: 'utc', label: 'UTC' },
  ];
  return (
    <Dialog title="Settings" onClose={onClose}>
      <div className={styles.fields}>
        <SelectField
          label="Theme"
          choices={THEMES}
          value={chosen.theme}
          onChange={(theme) => setPreference('theme', theme)}
        />
        <SelectField
          label="Rows"
          choices={DENSITIES}
          value={chosen.density}
          onChange={(density) => setPreference('density', density)}
        />
        <SelectField
          label="Times"
          choices={zones}
          value={chosen.zone}
          onChange={(zone) => setPreference('zone', zone)}
        />
        <SwitchField
          label="Without colour: states differ by glyph and hatching"
          isSelected={chosen.withoutColour}
          onChange={(value) => setPreference('withoutColour', value)}
        />
        <SwitchField
          label="Single keys are shortcuts"
          isSelected={chosen.letterKeys}
          onChange={(value) => setPreference('letterKeys', value)}
        />
      </div>
      <footer className={styles.buttons}>
        <Button onPress={onShortcuts}>Keyboard shortcuts</Button>
        <Button onPress={() => void logOut()}>Log out</Button>
      </footer>
    </Dialog>
  );
}

import { useId } from 'react';
import styles from './select-field.module.css';

export interface Choice<T extends string> {
  value: T;
  label: string;
}

interface SelectFieldProps<T extends string> {
  label: string;
  /** The label is read to screen readers only. */
  hideLabel?: boolean;
  choices: readonly Choice<T>[];
  value: T;
  onChange: (value: T) => void;
}

/** A choice from a list: the browser's own, which costs no script and suits a phone. */
export function SelectField<T extends string>({ label, hideLabel, choices, value, onChange }: SelectFieldProps<T>) {
  const id = useId();
  return (
    <div className={styles.field}>
      {!hideLabel && (
        <label className={styles.label} htmlFor={id}>
          {label}
        </label>
      )}
      <select
        id={id}
        className={styles.select}
        aria-label={hideLabel ? label : undefined}
        value={value}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  );
}

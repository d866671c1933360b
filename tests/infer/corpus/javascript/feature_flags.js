// Feature flags of this run. Each may be overridden by a variable whose name is made from the flag's.
const FLAGS = { newImport: false, fastTotals: true, auditTrail: false };

const toVariable = (flag) => `LEDGERLINE_${flag.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`;

function resolve(flags, lookup) {
  return Object.fromEntries(
    Object.entries(flags).map(([flag, fallback]) => {
      const value = lookup(toVariable(flag));
      return [flag, value === undefined ? fallback : value === '1' || value === 'true'];
    }),
  );
}

const flags = resolve(FLAGS, (name) => process['env'][name]);
for (const [flag, on] of Object.entries(flags)) console.log(`${on ? '+' : '-'} ${flag}`);

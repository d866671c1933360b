/// The `mode` of an open that Landlock alone judges. Any number would do that no program passes by chance.
pub const MARK: u32 = 0x5f0c_4ade;

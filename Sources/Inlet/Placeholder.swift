import InletCore

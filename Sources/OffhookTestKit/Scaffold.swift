internal import Offhook
